// SPDX-License-Identifier: Apache-2.0
// States of the elastic allocator from outside: decided on within the rules, and what is written
// for the record decides the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "cluster/codec/allocate_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace flowcon::cluster::policy;

void check(const GreedyState& state, const GreedyDecision& decision) {
  std::int64_t used = decision.idle;
  for (const std::int64_t nodes : decision.nodes) {
    if (nodes < 0) std::abort();
    used += nodes;
  }
  if (decision.idle < 0 || used != state.nodes) std::abort();
}

void check(const HorizonState& state, const HorizonDecision& decision) {
  if (decision.plan.size() + decision.waiting.size() != state.jobs.size()) std::abort();
  if (!(decision.bound >= decision.objective) || !(decision.objective >= 0)) std::abort();
  for (std::size_t t = 0; t < static_cast<std::size_t>(state.steps); ++t) {
    std::int64_t used = 0;
    for (const HorizonPlan& plan : decision.plan) used += plan.nodes.at(t);
    if (used > state.nodes) std::abort();
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json =
      flowcon::parse_json(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!json) return 0;
  const auto state = allocate_state_from(*json);
  if (!state) return 0;
  const AllocateDecision decision = decide_allocate(*state);
  if (const auto* greedy = std::get_if<GreedyState>(&*state)) {
    check(*greedy, std::get<GreedyDecision>(decision));
  } else {
    check(std::get<HorizonState>(*state), std::get<HorizonDecision>(decision));
  }
  const auto again = allocate_state_from(to_json(*state));
  if (!again) std::abort();
  if (flowcon::render_json(to_json(decide_allocate(*again))) !=
      flowcon::render_json(to_json(decision))) {
    std::abort();
  }
  return 0;
}
