// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/greedy.h"

#include "tests/support/catch.h"

using namespace flowcon::cluster::policy;

namespace {

using Nodes = std::vector<std::int64_t>;

GreedyJob job(const char* id, std::int64_t nodes, double train_time, std::int64_t n_min = 1,
              std::int64_t n_max = 16) {
  return {id, nodes, train_time, n_min, n_max};
}

GreedyState state_of(std::int64_t nodes, std::vector<GreedyJob> jobs) {
  GreedyState state;
  state.nodes = nodes;
  state.jobs = std::move(jobs);
  return state;
}

// "start c 4, down b 4"
std::string log_of(const GreedyDecision& decision) {
  std::string text;
  for (const GreedyEntry& entry : decision.log) {
    if (!text.empty()) text += ", ";
    text += std::string(name(entry.step)) + ' ' + decision.ids[entry.job] + ' ' +
            std::to_string(entry.nodes);
  }
  return text;
}

}  // namespace

TEST_CASE("idle nodes and the queue make the scenario") {
  CHECK(decide_greedy(state_of(9, {job("a", 8, 1, 16), job("q", 0, 0, 2)})).scenario == 1);
  CHECK(decide_greedy(state_of(9, {job("a", 8, 1)})).scenario == 2);
  CHECK(decide_greedy(state_of(8, {job("a", 8, 1), job("q", 0, 0)})).scenario == 3);
  CHECK(decide_greedy(state_of(8, {job("a", 8, 1)})).scenario == 4);
  CHECK(decide_greedy(state_of(0, {})).scenario == 4);
  CHECK(decide_greedy(state_of(3, {})).scenario == 2);
}

TEST_CASE("the queue starts in order, each with the largest power of two that is idle") {
  const auto decision =
      decide_greedy(state_of(13, {job("a", 0, 0, 1, 4), job("b", 0, 0), job("c", 0, 0)}));
  CHECK(log_of(decision) == "start a 4, start b 8, start c 1");
  CHECK(decision.idle == 0);
}

TEST_CASE("the first of the queue that cannot start ends it, and nobody grows") {
  const auto decision = decide_greedy(
      state_of(11, {job("r", 4, 1), job("a", 0, 0, 1, 2), job("b", 0, 0, 8), job("c", 0, 0)}));
  CHECK(log_of(decision) == "start a 2");
  CHECK(decision.nodes == Nodes{4, 2, 0, 0});
  CHECK(decision.idle == 5);
}

TEST_CASE("once the queue is empty, idle nodes go to the jobs that ran shortest") {
  GreedyState state = state_of(32, {job("old", 4, 90), job("young", 4, 10), job("q", 0, 20, 1, 8)});
  CHECK(log_of(decide_greedy(state)) == "start q 8, up young 16, up old 8");
  state.cascade = false;
  CHECK(log_of(decide_greedy(state)) == "start q 8");
}

TEST_CASE("of jobs that ran equally long the one listed first grows, each once") {
  CHECK(log_of(decide_greedy(state_of(7, {job("a", 1, 5), job("b", 1, 5), job("c", 1, 4)}))) ==
        "up c 4, up a 2");
}

TEST_CASE("the job that ran longest gives half to the first of the queue, once") {
  GreedyState state = state_of(
      16, {job("a", 8, 30), job("b", 8, 50), job("q", 0, 0, 1, 4), job("p", 0, 0), job("o", 0, 0)});
  CHECK(log_of(decide_greedy(state)) == "down b 4, start q 4");
  state.repeat = true;
  CHECK(log_of(decide_greedy(state)) ==
        "down b 4, start q 4, down b 2, start p 2, down b 1, start o 1");
}

TEST_CASE("a job keeps its least number, and the next longest gives") {
  CHECK(log_of(decide_greedy(state_of(
            12, {job("a", 4, 50, 4), job("b", 8, 20), job("q", 0, 0)}))) == "down b 4, start q 4");
  CHECK(log_of(decide_greedy(state_of(5, {job("a", 4, 50, 4), job("b", 1, 20), job("q", 0, 0)})))
            .empty());
}

TEST_CASE("nobody is halved where that starts nobody") {
  const auto decision = decide_greedy(state_of(8, {job("a", 8, 50), job("q", 0, 0, 8)}));
  CHECK(decision.scenario == 3);
  CHECK(decision.log.empty());
}

TEST_CASE("the larger half is freed, and what its taker does not want is idle") {
  GreedyState state = state_of(7, {job("a", 7, 50), job("q", 0, 0, 1, 3)});
  const auto powers = decide_greedy(state);
  CHECK(log_of(powers) == "down a 3, start q 2");
  CHECK(powers.idle == 2);
  state.powers_of_two = false;
  CHECK(log_of(decide_greedy(state)) == "down a 3, start q 3");
}

TEST_CASE("without powers of two any whole number is legal") {
  GreedyState state = state_of(11, {job("a", 3, 50, 1, 6), job("q", 0, 0, 5, 7)});
  CHECK(log_of(decide_greedy(state)).empty());
  state.powers_of_two = false;
  CHECK(log_of(decide_greedy(state)) == "start q 7, up a 4");
}

TEST_CASE("a job that may have no node never starts") {
  CHECK(decide_greedy(state_of(4, {job("q", 0, 0, 0, 0)})).log.empty());
}
