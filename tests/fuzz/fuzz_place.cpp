// SPDX-License-Identifier: Apache-2.0
// States of the placement from outside: each job is placed as a whole or not at all, no node gets
// more than it has, and what is written for the record decides the same.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/json.h"
#include "cluster/codec/place_json.h"
#include "cluster/policy/explain_place.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace flowcon::cluster::policy;

// What takes seconds with sanitizers is left out: bounded work, but too much for a fuzzer.
bool is_small(const PlaceState& state) {
  const std::size_t tasks = state.mode == PlaceMode::batch ? 12 : 100;
  return state.nodes.size() <= 100 && state.tasks.size() <= tasks;
}

void check(const PlaceState& state, const PlaceDecision& decision) {
  const std::set<std::string> unplaced(decision.unplaced.begin(), decision.unplaced.end());
  std::map<std::string, std::string> node_of;
  for (const TaskPlace& place : decision.placement) node_of[place.task] = place.node;
  std::map<std::string, std::map<std::string, double>> put;
  for (const PlaceTask& task : state.tasks) {
    if ((unplaced.count(task.job) != 0) != (node_of.count(task.id) == 0)) std::abort();
    if (node_of.count(task.id) == 0) continue;
    for (const auto& [kind, amount] : task.request) {
      if (amount > 0) put[node_of[task.id]][kind] += amount;
    }
  }
  for (const PlaceNode& node : state.nodes) {
    for (const auto& [kind, amount] : put[node.id]) {
      const double cap = amount_of(node.cap, kind);
      if (amount_of(node.used, kind) + amount > (cap + 1e-9) * (1 + 1e-12)) std::abort();
    }
  }
  for (const PlaceTask& task : state.tasks) {
    flowcon::ctrl::policy::About about;
    about.id = task.id;
    if (!explain(state, decision, about)) std::abort();
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json =
      flowcon::parse_json(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!json) return 0;
  const auto state = place_state_from(*json);
  if (!state) return 0;
  const auto again = place_state_from(to_json(*state));
  if (!again) std::abort();
  if (!is_small(*state)) return 0;
  const auto decision = decide_place(*state);
  if (!decision) std::abort();
  check(*state, *decision);
  const auto same = decide_place(*again);
  if (!same || flowcon::render_json(to_json(*same)) != flowcon::render_json(to_json(*decision))) {
    std::abort();
  }
  return 0;
}
