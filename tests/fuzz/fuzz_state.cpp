// SPDX-License-Identifier: Apache-2.0
// JSON from outside: states for decide, what people decide (API and store), values of adopt.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "ctrl/codec/decision_json.h"
#include "ctrl/control.h"
#include "ctrl/explain.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

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
    if (!state->containers.empty() && !explain(*state, state->containers[0].id, "", {})) {
      std::abort();
    }
  }
  if (const auto state = policy::listener_state_from(*json)) (void)policy::decide_listener(*state);
  return 0;
}
