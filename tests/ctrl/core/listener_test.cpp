// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "ctrl/policy/executor.h"
#include "tests/support/catch.h"

namespace {

using flowcon::ctrl::List;
using flowcon::ctrl::policy::decide_listener;
using flowcon::ctrl::policy::ListenerDecision;
using flowcon::ctrl::policy::ListenerState;
using Ids = std::vector<std::string>;

// "a" and "b" are known; the interval has doubled to 80.
ListenerState state_of(Ids active) {
  ListenerState state;
  state.executor.interval = 80;
  state.executor.containers = {{"a", List::cl, 0.25, 0.01}, {"b", List::wl, std::nullopt, 0.02}};
  state.initial_interval = 20;
  state.active = std::move(active);
  return state;
}

Ids ids(const ListenerDecision& decision) {
  Ids all;
  for (const auto& member : decision.containers) all.push_back(member.id);
  return all;
}

}  // namespace

TEST_CASE("the same set changes nothing, in whatever order it is seen") {
  const auto decision = decide_listener(state_of({"b", "a"}));
  CHECK(decision.arrived.empty());
  CHECK(decision.departed.empty());
  CHECK_FALSE(decision.rerun);
  CHECK(decision.interval == 80);
  CHECK(ids(decision) == Ids{"b", "a"});
  CHECK(decision.containers[0].list == List::wl);
  CHECK_FALSE(decision.containers[0].limit);
  CHECK(decision.containers[1].list == List::cl);
  CHECK(decision.containers[1].limit == 0.25);
  CHECK(decision.containers[1].growth == 0.01);
}

TEST_CASE("a newcomer joins NL with limit 1, resets the interval and asks for a run") {
  const auto decision = decide_listener(state_of({"a", "b", "c"}));
  CHECK(decision.arrived == Ids{"c"});
  CHECK(decision.departed.empty());
  CHECK(decision.rerun);
  CHECK(decision.interval == 20);
  CHECK(decision.containers[2].list == List::nl);
  CHECK(decision.containers[2].limit == 1);
  CHECK_FALSE(decision.containers[2].growth);
}

TEST_CASE("a container that is gone leaves its list") {
  const auto decision = decide_listener(state_of({"a"}));
  CHECK(decision.departed == Ids{"b"});
  CHECK(decision.rerun);
  CHECK(decision.interval == 20);
  CHECK(ids(decision) == Ids{"a"});
}

TEST_CASE("one arrival and one departure between two looks are two changes") {
  const auto decision = decide_listener(state_of({"c", "b"}));
  CHECK(decision.arrived == Ids{"c"});
  CHECK(decision.departed == Ids{"a"});
  CHECK(decision.rerun);
  CHECK(ids(decision) == Ids{"c", "b"});
}

TEST_CASE("an id that is twice in the active list counts once, at its first place") {
  const auto decision = decide_listener(state_of({"c", "a", "c", "b", "a"}));
  CHECK(decision.arrived == Ids{"c"});
  CHECK(ids(decision) == Ids{"c", "a", "b"});
}

TEST_CASE("arrivals come in the order of arrival, departures in the order of the state") {
  const auto decision = decide_listener(state_of({"z", "y"}));
  CHECK(decision.arrived == Ids{"z", "y"});
  CHECK(decision.departed == Ids{"a", "b"});
}

TEST_CASE("when all are gone the lists are empty and the interval is the initial one") {
  const auto decision = decide_listener(state_of({}));
  CHECK(decision.containers.empty());
  CHECK(decision.departed == Ids{"a", "b"});
  CHECK(decision.rerun);
  CHECK(decision.interval == 20);
}
