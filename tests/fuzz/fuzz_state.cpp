// SPDX-License-Identifier: Apache-2.0
// JSON from outside: states for decide, what people decide (API and store), values of adopt.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json.h"
#include "cluster/codec/decision_json.h"
#include "ctrl/codec/decision_json.h"
#include "ctrl/control.h"
#include "ctrl/policy/explain.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace cluster = flowcon::cluster::policy;

template <class Decision>
std::string written(const Decision& decision) {
  return flowcon::render_json(to_json(decision));
}

// States of the cluster: decided on, and what is written for the record decides the same.
void decide_for_cluster(const boost::json::value& json) {
  if (const auto state = cluster::categorise_state_from(json)) {
    const cluster::CategoriseDecision decision = cluster::decide_categorise(*state);
    if (decision.containers.size() != state->containers.size()) std::abort();
    const auto again = cluster::categorise_state_from(to_json(*state));
    if (!again || written(decide_categorise(*again)) != written(decision)) std::abort();
  }
  if (const auto state = cluster::speculate_state_from(json)) {
    const cluster::SpeculateDecision decision = cluster::decide_speculate(*state);
    if (decision.candidates.empty()) std::abort();
    const auto again = cluster::speculate_state_from(to_json(*state));
    if (!again || written(decide_speculate(*again)) != written(decision)) std::abort();
  }
  if (const auto state = cluster::rebalance_state_from(json)) {
    const cluster::RebalanceDecision decision = cluster::decide_rebalance(*state);
    for (const cluster::Move& move : decision.moves) {
      if (move.from == move.to) std::abort();
    }
    const auto again = cluster::rebalance_state_from(to_json(*state));
    if (!again || written(decide_rebalance(*again)) != written(decision)) std::abort();
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flowcon;
  using namespace flowcon::ctrl;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)parse_choice(text);
  (void)parse_pin(text, 1000);
  Control control;
  (void)merge_values(control, text);
  if (const auto parsed = parse_control(text)) {
    const auto again = parse_control(render_control(*parsed));
    if (!again || !(*again == *parsed)) std::abort();
  }
  const auto json = parse_json(text);
  if (!json) return 0;
  // What is rendered is read back as the same text.
  const std::string rendered = render_json(*json);
  const auto again = parse_json(rendered);
  if (!again || render_json(*again) != rendered) std::abort();
  if (const auto state = policy::executor_state_from(*json)) {
    const policy::ExecutorDecision decision = policy::decide_executor(*state);
    if (decision.containers.size() != state->containers.size()) std::abort();
    for (const policy::Placement& placement : decision.containers) {
      if (!(placement.limit >= 0) || placement.limit > 1) std::abort();
    }
    if (state->containers.empty()) return 0;
    policy::About about;
    about.id = state->containers[0].id;
    if (!explain(*state, decision, about)) std::abort();
  }
  decide_for_cluster(*json);
  if (const auto state = policy::listener_state_from(*json)) (void)policy::decide_listener(*state);
  return 0;
}
