// SPDX-License-Identifier: Apache-2.0
// States of the estimate: whatever they say, each job gets each label, expected is at most upper,
// and the state as it is written gives the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "ctrl/codec/estimate_json.h"
#include "ctrl/estimate/explain.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flowcon::ctrl::estimate;
  const auto json =
      flowcon::parse_json(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!json) return 0;
  const auto state = estimate_state_from(*json);
  if (!state) return 0;
  const EstimateDecision decision = decide_estimate(*state);
  if (decision.jobs.size() != state->jobs.size()) std::abort();
  for (const JobEstimate& job : decision.jobs) {
    for (const LabelEstimate& label : job.labels) {
      if (label.expected.has_value() != (label.basis != EstimateBasis::none)) std::abort();
      if (label.expected && !(*label.upper >= *label.expected)) std::abort();
    }
    flowcon::ctrl::policy::About about;
    about.id = job.id;
    if (!explain(*state, decision, about)) std::abort();
  }
  const auto again = estimate_state_from(to_json(*state));
  if (!again || flowcon::render_json(to_json(decide_estimate(*again))) !=
                    flowcon::render_json(to_json(decision))) {
    std::abort();
  }
  return 0;
}
