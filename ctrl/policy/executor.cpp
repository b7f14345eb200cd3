// SPDX-License-Identifier: Apache-2.0
#include "ctrl/policy/executor.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace flowcon::ctrl::policy {
namespace {

// Step 1: the list after this round, from the list at its start.
List next_list(const Member& member, double alpha) {
  if (!member.growth) return member.list;
  if (*member.growth < alpha) return member.list == List::nl ? List::wl : List::cl;
  return List::nl;
}

// What the limits of one round have in common.
struct Round {
  double sum = 0;    // of the known growths, on any list
  double floor = 0;  // 1/(beta*n)
  bool newcomer = false;
  bool floor_all = false;
};

// `list` is the one after step 1.
double limit_of(const Member& member, List list, const Round& round) {
  const bool has_share = member.growth && round.sum != 0;
  double limit = 1;
  switch (list) {
    case List::cl:
      limit = round.floor;
      if (has_share && !round.newcomer) limit = std::max(*member.growth / round.sum, limit);
      break;
    case List::wl:
      limit = member.limit.value_or(1);
      break;
    case List::nl:
      limit = has_share ? *member.growth / round.sum : 1;
      break;
  }
  if (round.floor_all) limit = std::max(limit, round.floor);
  return std::min(limit, 1.0);
}

}  // namespace

ExecutorDecision decide_executor(const ExecutorState& state) {
  ExecutorDecision decision;
  decision.interval = state.interval;

  Round round;
  round.floor_all = state.floor_all;
  std::size_t completing = 0;
  decision.containers.reserve(state.containers.size());
  for (const Member& member : state.containers) {
    const List list = next_list(member, state.alpha);
    completing += list == List::cl ? 1 : 0;
    round.newcomer = round.newcomer || (list == List::nl && !member.growth);
    if (member.growth) round.sum += *member.growth;
    decision.containers.push_back({member.id, list, 1});
  }
  if (state.containers.empty()) return decision;

  decision.all_completing = completing == state.containers.size();
  if (decision.all_completing) {
    decision.interval = 2 * state.interval;
    if (state.interval_max) decision.interval = std::min(decision.interval, *state.interval_max);
    return decision;
  }

  round.floor = 1 / (state.beta * static_cast<double>(state.containers.size()));
  for (std::size_t i = 0; i < state.containers.size(); ++i) {
    Placement& placement = decision.containers[i];
    placement.limit = limit_of(state.containers[i], placement.list, round);
  }
  return decision;
}

ListenerDecision decide_listener(const ListenerState& state) {
  std::unordered_map<std::string_view, const Member*> known;
  for (const Member& member : state.executor.containers) known.emplace(member.id, &member);

  ListenerDecision decision;
  std::unordered_set<std::string_view> active;
  for (const std::string& id : state.active) {
    if (!active.insert(id).second) continue;
    const auto found = known.find(id);
    if (found == known.end()) {
      decision.arrived.push_back(id);
      decision.containers.push_back({id, List::nl, 1.0, std::nullopt});
    } else {
      decision.containers.push_back(*found->second);
    }
  }
  for (const Member& member : state.executor.containers) {
    if (!active.contains(member.id)) decision.departed.push_back(member.id);
  }
  decision.rerun = !decision.arrived.empty() || !decision.departed.empty();
  decision.interval = decision.rerun ? state.initial_interval : state.executor.interval;
  return decision;
}

}  // namespace flowcon::ctrl::policy
