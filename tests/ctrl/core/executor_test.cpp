// SPDX-License-Identifier: Apache-2.0
#include "ctrl/policy/executor.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace {

using flowcon::ctrl::List;
using flowcon::ctrl::policy::decide_executor;
using flowcon::ctrl::policy::ExecutorDecision;
using flowcon::ctrl::policy::ExecutorState;
using flowcon::ctrl::policy::Member;
using flowcon::ctrl::policy::Placement;

constexpr auto kNone = std::nullopt;

// alpha 0.03, beta 2, interval 20.
ExecutorState state_of(std::vector<Member> containers) {
  ExecutorState state;
  state.containers = std::move(containers);
  return state;
}

std::string shown(const ExecutorDecision& decision) {
  std::string text;
  for (const Placement& placement : decision.containers) {
    text += placement.id + ':' + name(placement.list) + ' ';
  }
  return text;
}

ExecutorState random_state(std::mt19937& random) {
  std::uniform_real_distribution<double> share(1e-6, 1);
  ExecutorState state;
  state.alpha = share(random) * 0.1;
  state.beta = 1 + 3 * share(random);
  state.interval = 100 * share(random);
  if (random() % 2 == 0) state.interval_max = 200;
  state.floor_all = random() % 2 == 0;
  const auto size = random() % 12;
  for (unsigned i = 0; i < size; ++i) {
    Member member;
    member.id = "c" + std::to_string(i);
    member.list = static_cast<List>(random() % 3);
    if (random() % 8 != 0) member.limit = share(random);
    if (random() % 6 != 0) member.growth = random() % 5 == 0 ? 0 : share(random) * 0.2;
    state.containers.push_back(member);
  }
  return state;
}

}  // namespace

TEST_CASE("a container moves between the lists by its growth alone") {
  struct Row {
    List before;
    std::optional<double> growth;
    List after;
  };
  const auto row = GENERATE(values<Row>({
      {List::nl, 0.029, List::wl},
      {List::wl, 0.029, List::cl},
      {List::cl, 0.029, List::cl},
      {List::nl, 0.03, List::nl},
      {List::wl, 0.03, List::nl},
      {List::cl, 0.03, List::nl},
      {List::nl, kNone, List::nl},
      {List::wl, kNone, List::wl},
      {List::cl, kNone, List::cl},
      {List::nl, 0.0, List::wl},
  }));
  // The second container keeps the round from being all in CL.
  const auto decision =
      decide_executor(state_of({{"a", row.before, 0.5, row.growth}, {"b", List::nl, 1, 1}}));
  CAPTURE(name(row.before));
  CHECK(name(decision.containers[0].list) == std::string(name(row.after)));
}

TEST_CASE("the published example: the old job gets a quarter, the newcomer everything") {
  const auto decision =
      decide_executor(state_of({{"vae", List::wl, 1, 0.01}, {"mnist", List::nl, 1, kNone}}));
  CHECK(shown(decision) == "vae:CL mnist:NL ");
  CHECK(decision.containers[0].limit == 0.25);
  CHECK(decision.containers[1].limit == 1);
  CHECK(decision.interval == 20);
  CHECK_FALSE(decision.all_completing);
}

TEST_CASE("a container in CL gets its share of the growth, at least the floor") {
  // Sum 0.125; floor 1/(2*3).
  const auto decision = decide_executor(state_of(
      {{"a", List::cl, 0.3, 0.025}, {"b", List::cl, 0.3, 0.0125}, {"c", List::nl, 0.3, 0.0875}}));
  CHECK(decision.containers[0].limit == 0.025 / (0.025 + 0.0125 + 0.0875));
  CHECK(decision.containers[1].limit == 1 / (2.0 * 3));
  CHECK(decision.containers[2].limit == 0.0875 / (0.025 + 0.0125 + 0.0875));
}

TEST_CASE("a container in CL gets the floor alone where there is no share to give") {
  SECTION("its growth is not measured") {
    const auto decision =
        decide_executor(state_of({{"a", List::cl, 0.9, kNone}, {"b", List::nl, 1, 0.5}}));
    CHECK(decision.containers[0].limit == 0.25);
    CHECK(decision.containers[1].limit == 1);
  }
  SECTION("nothing grows") {
    const auto decision =
        decide_executor(state_of({{"a", List::cl, 0.9, 0.0}, {"b", List::nl, 0.7, 0.0}}));
    CHECK(decision.containers[0].limit == 0.25);
  }
  SECTION("a container in NL is still unmeasured") {
    const auto decision = decide_executor(state_of(
        {{"a", List::cl, 0.9, 0.02}, {"b", List::wl, 0.8, kNone}, {"c", List::nl, 1, kNone}}));
    CHECK(decision.containers[0].limit == 1 / (2.0 * 3));
  }
  SECTION("an unmeasured container in WL is no newcomer") {
    const auto decision =
        decide_executor(state_of({{"a", List::cl, 0.9, 0.02}, {"b", List::wl, 0.8, kNone}}));
    CHECK(decision.containers[0].limit == 1);
  }
}

TEST_CASE("a container in WL keeps its limit, 1 if it never had one") {
  const auto decision = decide_executor(state_of({{"a", List::nl, 0.4, 0.01},
                                                  {"b", List::nl, kNone, 0.01},
                                                  {"c", List::wl, 0.3, kNone},
                                                  {"d", List::wl, 1.5, kNone}}));
  CHECK(shown(decision) == "a:WL b:WL c:WL d:WL ");
  CHECK(decision.containers[0].limit == 0.4);
  CHECK(decision.containers[1].limit == 1);
  CHECK(decision.containers[2].limit == 0.3);
  CHECK(decision.containers[3].limit == 1);
}

TEST_CASE("a container in NL gets its share, 1 where nothing is known") {
  SECTION("measured beside a faster one: no lower bound as published") {
    const auto decision =
        decide_executor(state_of({{"a", List::nl, 1, 0.05}, {"b", List::nl, 1, 4.95}}));
    CHECK(decision.containers[0].limit == 0.05 / (0.05 + 4.95));
  }
  SECTION("not measured") {
    const auto decision =
        decide_executor(state_of({{"a", List::nl, 0.2, kNone}, {"b", List::nl, 1, 0.5}}));
    CHECK(decision.containers[0].limit == 1);
  }
  SECTION("nothing grows and alpha is 0") {
    ExecutorState state = state_of({{"a", List::nl, 0.2, 0.0}, {"b", List::cl, 1, 0.0}});
    state.alpha = 0;
    CHECK(decide_executor(state).containers[1].limit == 1);
  }
}

TEST_CASE("with floor_all no list falls below the floor") {
  ExecutorState state =
      state_of({{"a", List::nl, 1, 0.05}, {"b", List::nl, 1, 4.95}, {"c", List::wl, 0.01, kNone}});
  state.floor_all = true;
  const auto decision = decide_executor(state);
  CHECK(decision.containers[0].limit == 1 / (2.0 * 3));
  CHECK(decision.containers[1].limit == 4.95 / (0.05 + 4.95));
  CHECK(decision.containers[2].limit == 1 / (2.0 * 3));
}

TEST_CASE("when all have converged they compete freely and the interval doubles once") {
  ExecutorState state = state_of({{"a", List::wl, 0.25, 0.01}, {"b", List::cl, 0.25, kNone}});
  const auto decision = decide_executor(state);
  CHECK(decision.all_completing);
  CHECK(shown(decision) == "a:CL b:CL ");
  CHECK(decision.containers[0].limit == 1);
  CHECK(decision.containers[1].limit == 1);
  CHECK(decision.interval == 40);

  state.interval_max = 30;
  CHECK(decide_executor(state).interval == 30);
  state.interval_max = 40.5;
  CHECK(decide_executor(state).interval == 40);
}

TEST_CASE("without containers nothing changes and nothing backs off") {
  const auto decision = decide_executor(state_of({}));
  CHECK(decision.interval == 20);
  CHECK_FALSE(decision.all_completing);
  CHECK(decision.containers.empty());
}

TEST_CASE("growths whose sum overflows leave limits between 0 and 1") {
  const auto decision =
      decide_executor(state_of({{"a", List::nl, 1, 1.7e308}, {"b", List::nl, 1, 1.7e308}}));
  CHECK(decision.containers[0].limit == 0);
}

TEST_CASE(
    "any state: ids and order stay, limits are in (0,1], the same input gives the same bits") {
  std::mt19937 random(11);
  for (int i = 0; i < 5000; ++i) {
    const ExecutorState state = random_state(random);
    const auto decision = decide_executor(state);
    const auto again = decide_executor(state);
    REQUIRE(decision.containers.size() == state.containers.size());
    CHECK(decision.interval == again.interval);
    const double floor = 1 / (state.beta * static_cast<double>(state.containers.size()));
    for (std::size_t k = 0; k < state.containers.size(); ++k) {
      const Placement& placement = decision.containers[k];
      CHECK(placement.id == state.containers[k].id);
      CHECK(placement.limit > 0);
      CHECK(placement.limit <= 1);
      CHECK(placement.limit == again.containers[k].limit);
      if (placement.list == List::cl || state.floor_all) CHECK(placement.limit >= floor);
    }
  }
}

TEST_CASE("any state: the order of the containers is irrelevant") {
  std::mt19937 random(12);
  for (int i = 0; i < 2000; ++i) {
    ExecutorState state = random_state(random);
    std::map<std::string, Placement> before;
    const auto first = decide_executor(state);
    for (const Placement& placement : first.containers) before[placement.id] = placement;
    std::shuffle(state.containers.begin(), state.containers.end(), random);
    const auto second = decide_executor(state);
    CHECK(second.interval == first.interval);
    for (const Placement& placement : second.containers) {
      CHECK(placement.list == before[placement.id].list);
      // Another order of at most twelve summands moves the sum by at most eleven roundings.
      CHECK(placement.limit == Approx(before[placement.id].limit).epsilon(12 * 2.3e-16));
    }
  }
}
