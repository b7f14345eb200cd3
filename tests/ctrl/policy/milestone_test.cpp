// SPDX-License-Identifier: Apache-2.0
#include "ctrl/policy/milestone.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "ctrl/codec/milestone_json.h"
#include "tests/support/catch.h"

using namespace flowcon::ctrl::policy;

namespace {

MilestoneMember member(const std::string& id, double left) {
  MilestoneMember m;
  m.id = id;
  m.left = left;
  m.open90 = 0;
  return m;
}

MilestoneState state_of(std::vector<MilestoneMember> members, double cores = 8) {
  MilestoneState state;
  state.cores = cores;
  state.members = std::move(members);
  return state;
}

std::size_t rank_of(const MilestoneDecision& decision, const std::string& id) {
  for (const Ranked& ranked : decision.members) {
    if (ranked.id == id) return ranked.rank;
  }
  FAIL("no " << id);
  return 0;
}

double sum_of_shares(const MilestoneDecision& decision) {
  double sum = 0;
  for (const Ranked& ranked : decision.members) sum += ranked.share;
  return sum;
}

}  // namespace

TEST_CASE("of jobs that have made their way the shortest goes first") {
  const auto decision =
      decide_milestone(state_of({member("a", 300), member("b", 100), member("c", 200)}));
  CHECK(rank_of(decision, "b") == 0);
  CHECK(rank_of(decision, "c") == 1);
  CHECK(rank_of(decision, "a") == 2);
}

TEST_CASE("a key is the work per worth of the nearest milestone") {
  MilestoneMember m = member("a", 800);
  m.left90 = 90;
  m.open90 = 1;
  MilestoneState state = state_of({m});
  state.worth = 0.5;
  // 90/0.5 = 180 is less than 800/1.5.
  CHECK(decide_milestone(state).members[0].key == Approx(180));
  state.members[0].left90 = 700;
  CHECK(decide_milestone(state).members[0].key == Approx(800 / 1.5));
  state.members[0].open90 = 0;
  CHECK(decide_milestone(state).members[0].key == Approx(800));
}

TEST_CASE("the work to an end that may be another one is done for the chance that it is there") {
  MilestoneState state = state_of({member("said", 100), member("counted", 110)});
  CHECK(rank_of(decide_milestone(state), "said") == 0);
  state.members[0].trust = 0.8;
  const MilestoneDecision decision = decide_milestone(state);
  CHECK(decision.members[0].key == 125);
  CHECK(rank_of(decision, "said") == 1);
  const auto read = milestone_state_from(to_json(state));
  REQUIRE(read.has_value());
  CHECK(read->members[0].trust == 0.8);
  CHECK(flowcon::render_json(to_json(state)).find(R"("trust")") ==
        flowcon::render_json(to_json(state)).rfind(R"("trust")"));
  for (const char* wrong : {"0", "1.1", "-1", "\"x\""}) {
    CHECK_FALSE(milestone_state_from(
                    *flowcon::parse_json(
                        std::string(R"({"cores":1,"containers":[{"id":"a","left":1,"trust":)") +
                        wrong + "}]}"))
                    .has_value());
  }
}

TEST_CASE("shares fall by the step and leave everybody the floor") {
  MilestoneState state = state_of({member("a", 100), member("b", 200), member("c", 400)});
  state.step = 4;
  state.floor = 0.03;
  const auto decision = decide_milestone(state);
  // 1, 1/4, 1/16 of 21/16; 0.01 each and 0.97 of that.
  CHECK(decision.members[0].share == Approx(0.01 + 0.97 * 16 / 21));
  CHECK(decision.members[1].share == Approx(0.01 + 0.97 * 4 / 21));
  CHECK(decision.members[2].share == Approx(0.01 + 0.97 * 1 / 21));
  CHECK(sum_of_shares(decision) == Approx(1));
}

TEST_CASE("a job that would be late is not last, however long it is") {
  // 60 s for all on 10 cores. The long one is due in 50 s, so another has to be last.
  auto a = member("long", 400);
  a.due = 50;
  auto b = member("short", 100);
  b.due = 100;
  auto c = member("shorter", 90);
  c.due = 30;
  const auto decision = decide_milestone(state_of({a, b, c}, 10));
  CHECK(rank_of(decision, "short") == 2);
  CHECK(rank_of(decision, "long") == 1);
  CHECK(rank_of(decision, "shorter") == 0);
}

TEST_CASE("where all would be late, the one that is so by the least share of its time is last") {
  // 50 s for all. A month's job that is an hour late lets one of a minute go first.
  auto a = member("minute", 100);
  a.due = 30;
  a.span = 60;
  auto b = member("month", 300);
  b.due = -3600;
  b.span = 30 * 86400;
  const auto decision = decide_milestone(state_of({a, b}));
  CHECK(rank_of(decision, "minute") == 0);
  CHECK(rank_of(decision, "month") == 1);
}

TEST_CASE("where all would be late and of the same length, the one that is due last is last") {
  auto a = member("a", 100);
  a.due = -5;
  auto b = member("b", 900);
  b.due = -1;
  const auto decision = decide_milestone(state_of({a, b}));
  CHECK(rank_of(decision, "b") == 1);
}

TEST_CASE("a narrow job that is the critical path goes first") {
  // Alone it takes 100/1 s; all the host's work takes (100+640)/8 = 92.5 s.
  auto narrow = member("narrow", 100);
  narrow.width = 1;
  auto wide = member("wide", 64);
  const auto decision = decide_milestone(state_of({wide, member("wider", 576), narrow}));
  CHECK(rank_of(decision, "narrow") == 0);
  // Where the host has work for much longer it waits for its turn.
  narrow.left = 65;
  CHECK(rank_of(decide_milestone(state_of({wide, member("wider", 5760), narrow})), "narrow") == 1);
}

TEST_CASE("the critical path waits where others would be late by it") {
  // Of 8 cores it takes 4 for 25 s, the others need 100/8 s with all of them and 25 s beside it.
  auto narrow = member("narrow", 100);
  narrow.width = 4;
  auto a = member("a", 40);
  auto b = member("b", 60);
  b.due = a.due = 26;
  CHECK(rank_of(decide_milestone(state_of({a, b, narrow})), "narrow") == 0);
  b.due = a.due = 24;
  CHECK(rank_of(decide_milestone(state_of({a, b, narrow})), "narrow") == 2);
  // Where it is itself later than it makes others, it goes first.
  narrow.due = -50;
  CHECK(rank_of(decide_milestone(state_of({a, b, narrow})), "narrow") == 0);
}

TEST_CASE("a small difference does not change an order that stands") {
  auto a = member("a", 100);
  a.before = 1;
  auto b = member("b", 104);
  b.before = 0;
  CHECK(rank_of(decide_milestone(state_of({a, b})), "b") == 0);
  b.left = 120;
  CHECK(rank_of(decide_milestone(state_of({a, b})), "b") == 1);
}

TEST_CASE("jobs whose end is a guess share what falls to them alike") {
  auto a = member("a", 100);
  auto b = member("b", 300);
  a.is_blind = b.is_blind = true;
  const auto decision = decide_milestone(state_of({a, member("known", 200), b}));
  CHECK(decision.members[0].share == decision.members[2].share);
  CHECK(sum_of_shares(decision) == Approx(1));
}

TEST_CASE("whatever the state: ranks are a permutation, shares are above 0 and add up to 1") {
  std::uint64_t seed = 12345;
  const auto next = [&seed] {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(seed >> 40) / static_cast<double>(1 << 24);
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<MilestoneMember> members;
    const int n = 1 + static_cast<int>(next() * 20);
    for (int i = 0; i < n; ++i) {
      MilestoneMember m = member(std::to_string(i), 1e-3 + 1000 * next());
      if (next() < 0.5) m.left90 = 500 * next();
      m.open90 = next();
      if (next() < 0.3) m.width = 0.1 + 8 * next();
      if (next() < 0.6) m.due = 400 * next() - 100;
      if (next() < 0.6) m.span = 1 + 400 * next();
      if (next() < 0.5) m.before = static_cast<std::size_t>(20 * next());
      m.is_blind = next() < 0.3;
      members.push_back(m);
    }
    const MilestoneState state = state_of(members);
    const MilestoneDecision decision = decide_milestone(state);
    std::vector<std::size_t> ranks;
    for (const Ranked& ranked : decision.members) {
      ranks.push_back(ranked.rank);
      REQUIRE(ranked.share >= state.floor / n * (1 - 1e-9));
    }
    std::sort(ranks.begin(), ranks.end());
    for (std::size_t i = 0; i < ranks.size(); ++i) REQUIRE(ranks[i] == i);
    REQUIRE(sum_of_shares(decision) == Approx(1));
    // Through JSON and back it is the same decision, to the digit.
    const auto text = flowcon::render_json(to_json(state));
    const auto again = milestone_state_from(*flowcon::parse_json(text));
    REQUIRE(again.has_value());
    REQUIRE(flowcon::render_json(to_json(decide_milestone(*again))) ==
            flowcon::render_json(to_json(decision)));
  }
}

TEST_CASE("a wrong state is named") {
  const auto problem_of = [](const char* text) {
    const auto state = milestone_state_from(*flowcon::parse_json(text));
    return state ? std::string() : state.error().message();
  };
  CHECK(problem_of(R"({"containers":[]})").find("cores") != std::string::npos);
  CHECK(problem_of(R"({"cores":0,"containers":[]})").find("cores") != std::string::npos);
  CHECK(problem_of(R"({"cores":1,"containers":[{"id":"a","left":0}]})").find("left") !=
        std::string::npos);
  CHECK(problem_of(R"({"cores":1,"containers":[{"id":"a","left":1},{"id":"a","left":1}]})") != "");
  CHECK(problem_of(R"({"cores":1,"containers":[{"id":"a","left":1}]})") == "");
}
