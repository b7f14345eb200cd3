// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/steer.h"

#include <map>
#include <set>

#include "tests/support/catch.h"

using namespace flowcon::cluster::policy;

namespace {

SteeredJob job(const std::string& id, double left, std::uint32_t moves = 0) {
  SteeredJob j;
  j.id = id;
  j.left = left;
  j.width = 8;
  j.moves = moves;
  return j;
}

SteerState two_hosts(std::vector<SteeredJob> one, std::vector<SteeredJob> other) {
  SteerState state;
  state.hosts = {{"h1", 8, std::move(one)}, {"h2", 8, std::move(other)}};
  return state;
}

}  // namespace

TEST_CASE("an idle host takes from one that has two") {
  const auto decision = decide_steer(two_hosts({job("a", 800), job("b", 800)}, {}));
  REQUIRE(decision.moves.size() == 1);
  CHECK(decision.moves[0].from == "h1");
  CHECK(decision.moves[0].to == "h2");
}

TEST_CASE("one job alone stays where it is") {
  CHECK(decide_steer(two_hosts({job("a", 8000)}, {})).moves.empty());
}

TEST_CASE("a job without end on one host is no reason that the others wait") {
  SteerState state = two_hosts({job("server", 1e6)}, {});
  state.hosts[1].jobs = {job("a", 800), job("b", 800), job("c", 800), job("d", 800)};
  state.hosts.push_back({"h3", 8, {}});
  const auto decision = decide_steer(state);
  REQUIRE_FALSE(decision.moves.empty());
  for (const Move& move : decision.moves) {
    CHECK(move.from == "h2");
    CHECK(move.to == "h3");
  }
}

TEST_CASE("what a move would win has to be more than it costs") {
  // Two of 1 s each: the second would end at 1 + 5 instead of 2.
  CHECK(decide_steer(two_hosts({job("a", 8), job("b", 8)}, {})).moves.empty());
}

TEST_CASE("a job that was moved as often as it may be stays") {
  SteerState state = two_hosts({job("a", 800, 2), job("b", 800, 2)}, {});
  CHECK(decide_steer(state).moves.empty());
  state.hosts[0].jobs[1].moves = 1;
  REQUIRE(decide_steer(state).moves.size() == 1);
  CHECK(decide_steer(state).moves[0].container == "b");
  state.hosts[0].jobs[1].may_move = false;
  CHECK(decide_steer(state).moves.empty());
}

TEST_CASE("hosts that are even are left alone") {
  CHECK(decide_steer(two_hosts({job("a", 800), job("b", 400)}, {job("c", 700), job("d", 500)}))
            .moves.empty());
}

TEST_CASE("no job is moved twice in a round, and no host becomes the busiest by a move") {
  std::vector<SteeredJob> many;
  for (int i = 0; i < 30; ++i) many.push_back(job("j" + std::to_string(i), 100 + 37 * (i % 7)));
  SteerState state;
  state.hosts = {{"h1", 8, many}, {"h2", 8, {}}, {"h3", 4, {job("x", 200)}}, {"h4", 8, {}}};
  const auto decision = decide_steer(state);
  CHECK(decision.moves.size() >= 2);
  std::set<std::string> moved;
  std::map<std::string, double> work{{"h1", 0}, {"h2", 0}, {"h3", 200 / 4.0}, {"h4", 0}};
  for (const SteeredJob& j : many) work["h1"] += j.left / 8;
  const double before = work["h1"];
  for (const Move& move : decision.moves) {
    CHECK(moved.insert(move.container).second);
    const double left = 100 + 37 * (std::stoi(move.container.substr(1)) % 7);
    work[move.from] -= left / 8;
    work[move.to] += left / (move.to == "h3" ? 4 : 8);
  }
  for (const auto& [id, seconds] : work) CHECK(seconds < before);
}
