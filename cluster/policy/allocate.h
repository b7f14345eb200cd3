// SPDX-License-Identifier: Apache-2.0
// Nodes for jobs, by either allocator (ALGORITHMS.md §11). Pure.
#pragma once

#include <variant>

#include "cluster/policy/greedy.h"
#include "cluster/policy/horizon.h"

namespace flowcon::cluster::policy {

struct AllocateState : std::variant<GreedyState, HorizonState> {
  static constexpr const char* kAlgorithm = "allocate";

  using variant::variant;
};
using AllocateDecision = std::variant<GreedyDecision, HorizonDecision>;

[[nodiscard]] inline AllocateDecision decide_allocate(const AllocateState& state) {
  if (const auto* greedy = std::get_if<GreedyState>(&state)) return decide_greedy(*greedy);
  return decide_horizon(std::get<HorizonState>(state));
}

}  // namespace flowcon::cluster::policy
