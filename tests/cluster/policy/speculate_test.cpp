// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/speculate.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"

namespace {

using flowcon::cluster::policy::decide_speculate;
using flowcon::cluster::policy::score_of;
using flowcon::cluster::policy::SpeculateState;
using flowcon::cluster::policy::Worker;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using Ids = std::vector<std::string>;

// Weights 2, 1.5, 1.
SpeculateState state_of(std::string source, std::vector<Worker> workers) {
  return {{}, "job", std::move(source), std::move(workers), false};
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
