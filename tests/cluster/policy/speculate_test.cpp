// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/speculate.h"

#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"

namespace {

using flowcon::cluster::policy::Answer;
using flowcon::cluster::policy::decide_requests;
using flowcon::cluster::policy::decide_speculate;
using flowcon::cluster::policy::is_valid;
using flowcon::cluster::policy::Request;
using flowcon::cluster::policy::score_of;
using flowcon::cluster::policy::SpeculateState;
using flowcon::cluster::policy::Weights;
using flowcon::cluster::policy::Worker;
using flowcon::cluster::policy::workers_after;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using Ids = std::vector<std::string>;

// Weights 2, 1.5, 1.
SpeculateState state_of(std::string source, std::vector<Worker> workers) {
  return {{}, "job", std::move(source), std::move(workers), false};
}

std::vector<Worker> random_workers(std::mt19937& random) {
  std::vector<Worker> workers;
  const auto size = 1 + random() % 6;
  for (unsigned i = 0; i < size; ++i) {
    const auto count = [&random] { return static_cast<std::int64_t>(random() % 4); };
    // Quarters, so that there are ties.
    const double usage = random() % 16 == 0 ? kNan : static_cast<double>(random() % 5) / 4;
    workers.push_back({"h" + std::to_string(i), {count(), count(), 1 + count()}, usage});
  }
  return workers;
}

}  // namespace

TEST_CASE("a host's score is what its containers weigh") {
  CHECK(score_of({0, 0, 0}, {}) == 0);
  CHECK(score_of({1, 0, 0}, {}) == 2);
  CHECK(score_of({0, 1, 0}, {}) == 1.5);
  CHECK(score_of({0, 0, 1}, {}) == 1);
  CHECK(score_of({3, 2, 1}, {0.3, 0.2, 0.1}) == 3 * 0.3 + 2 * 0.2 + 1 * 0.1);
}

TEST_CASE("a host that drains is no candidate, however little it has to do") {
  SpeculateState state =
      state_of("h1", {{"h1", {0, 0, 1}, 0}, {"h2", {3, 0, 0}, 0.5}, {"h3", {2, 0, 0}, 0.9}});
  CHECK_FALSE(decide_speculate(state).move);
  state.draining = true;
  const auto decision = decide_speculate(state);
  CHECK(decision.move);
  CHECK(decision.target == "h3");
  CHECK(decision.scores.size() == 3);
  CHECK(decision.candidates == Ids{"h3"});
  state.workers.resize(1);
  CHECK_FALSE(decide_speculate(state).move);
  CHECK(decide_speculate(state).target == "h1");
}

TEST_CASE("weights must fall from PC to CC and stay above 0") {
  CHECK(is_valid({}));
  CHECK(is_valid({0.3, 0.2, 0.1}));
  CHECK_FALSE(is_valid({1.5, 1.5, 1}));
  CHECK_FALSE(is_valid({2, 1, 1}));
  CHECK_FALSE(is_valid({2, 1, 0}));
  CHECK_FALSE(is_valid({1, 1.5, 2}));
  CHECK_FALSE(is_valid({std::numeric_limits<double>::infinity(), 1.5, 1}));
  CHECK_FALSE(is_valid({kNan, 1.5, 1}));
  CHECK_FALSE(is_valid({2, kNan, 1}));
  CHECK_FALSE(is_valid({2, 1.5, kNan}));
}

TEST_CASE("a container moves to the host with the least score, whatever its usage") {
  const auto decision = decide_speculate(
      state_of("h1", {{"h1", {2, 1, 1}, 0.1}, {"h2", {1, 0, 1}, 0.9}, {"h3", {1, 1, 1}, 0.2}}));
  REQUIRE(decision.scores.size() == 3);
  CHECK(decision.scores[0].id == "h1");
  CHECK(decision.scores[0].score == 6.5);
  CHECK(decision.scores[1].score == 3);
  CHECK(decision.scores[2].score == 4.5);
  CHECK(decision.candidates == Ids{"h2"});
  CHECK(decision.target == "h2");
  CHECK(decision.move);
}

TEST_CASE("a container stays where its host is among the candidates") {
  const auto decision = decide_speculate(
      state_of("h2", {{"h1", {1, 0, 1}, 0.0}, {"h2", {1, 0, 1}, 1.0}, {"h3", {2, 0, 1}, 0.0}}));
  CHECK(decision.candidates == Ids{"h1", "h2"});
  CHECK(decision.target == "h2");
  CHECK_FALSE(decision.move);
}

TEST_CASE("of several candidates the least used one is taken, first listed on a tie") {
  struct Row {
    double h2, h3, h4;
    const char* target;
  };
  const auto row = GENERATE(values<Row>({{0.5, 0.4, 0.6, "h3"},
                                         {0.5, 0.5, 0.5, "h2"},
                                         {0.5, 0.4, 0.4, "h3"},
                                         {kNan, 0.9, 0.9, "h3"},
                                         {0.9, kNan, 0.9, "h2"},
                                         {kNan, kNan, kNan, "h2"}}));
  CAPTURE(row.h2, row.h3, row.h4);
  const auto decision = decide_speculate(state_of("h1", {{"h1", {2, 0, 1}, 0.0},
                                                         {"h2", {1, 0, 0}, row.h2},
                                                         {"h3", {1, 0, 0}, row.h3},
                                                         {"h4", {0, 0, 2}, row.h4}}));
  CHECK(decision.candidates == Ids{"h2", "h3", "h4"});
  CHECK(decision.target == row.target);
  CHECK(decision.move);
}

TEST_CASE("a container stays where there is nowhere to go, or its host is not known") {
  CHECK_FALSE(decide_speculate(state_of("h1", {{"h1", {9, 0, 1}, 1}})).move);
  for (const auto& decision : {decide_speculate(state_of("h1", {})),
                               decide_speculate(state_of("h1", {{"h2", {0, 0, 0}, 0}}))}) {
    CHECK(decision.target == "h1");
    CHECK_FALSE(decision.move);
  }
}

TEST_CASE("after a move the source has one in CC less and the target one more") {
  const SpeculateState state =
      state_of("h1", {{"h1", {2, 1, 1}, 0.7}, {"h2", {1, 0, 1}, 0.3}, {"h3", {5, 0, 0}, 0.1}});
  const auto decision = decide_speculate(state);
  const auto after = workers_after(state.workers, state.source, decision);
  CHECK(after[0].counts.cc == 0);
  CHECK(after[1].counts.cc == 2);
  CHECK(after[2].counts.cc == 0);
  CHECK(after[0].counts.pc == 2);
  CHECK(after[0].usage == 0.7);
  CHECK(after[1].usage == 0.3);

  const auto stays = decide_speculate(state_of("h2", after));
  REQUIRE_FALSE(stays.move);
  CHECK(workers_after(after, "h2", stays)[1].counts.cc == 2);
}

TEST_CASE("requests of one round do not all land on the same host") {
  const auto answers =
      decide_requests({}, {{"h1", {3, 0, 3}, 0.9}, {"h2", {1, 0, 0}, 0.5}, {"h3", {1, 0, 0}, 0.4}},
                      {{"a", "h1"}, {"b", "h1"}, {"c", "elsewhere"}, {"d", "h2"}});
  REQUIRE(answers.size() == 4);
  CHECK(answers[0].target == "h3");
  CHECK(answers[1].target == "h2");
  CHECK(answers[2].target == "elsewhere");
  CHECK_FALSE(answers[2].move);
  CHECK(answers[3].container == "d");
  CHECK(answers[3].target == "h2");
  CHECK_FALSE(answers[3].move);
}

TEST_CASE("any round: all requests at once are the same as one after the other") {
  std::mt19937 random(21);
  int moves = 0;
  for (int i = 0; i < 5000; ++i) {
    const Weights weights = random() % 2 == 0 ? Weights{} : Weights{0.3, 0.2, 0.1};
    const std::vector<Worker> workers = random_workers(random);
    std::vector<Request> requests;
    for (auto left = random() % 8; left > 0; --left) {
      requests.push_back({"c" + std::to_string(left), workers[random() % workers.size()].id});
    }
    const std::vector<Answer> answers = decide_requests(weights, workers, requests);
    REQUIRE(answers.size() == requests.size());
    std::vector<Worker> now = workers;
    for (std::size_t k = 0; k < requests.size(); ++k) {
      const auto one =
          decide_speculate({weights, requests[k].container, requests[k].source, now, false});
      CHECK(answers[k].container == requests[k].container);
      CHECK(answers[k].target == one.target);
      CHECK(answers[k].move == one.move);
      CHECK(one.move == (one.target != requests[k].source));
      now = workers_after(std::move(now), requests[k].source, one);
      moves += one.move ? 1 : 0;
    }
  }
  CHECK(moves > 1000);
}
