// SPDX-License-Identifier: Apache-2.0
// The milestone policy's input and output as JSON: what `flowcon-sim decide milestone` reads and
// prints, and what the daemon stores. Text and types only, no decision.
#pragma once

#include <boost/json/value.hpp>
#include <string_view>

#include "base/result.h"
#include "ctrl/policy/milestone.h"

namespace flowcon::ctrl::policy {

/// How a state is written, for people.
inline constexpr std::string_view kMilestoneHelp =
    R"(State of milestone (left, left90: CPU seconds to the end and to 90 % of the gain; due in seconds from
now; width in cores; before: the rank that it had):
  {"cores":8,
   "containers":[{"id":"a","left":900,"left90":120,"open90":1,"due":400},
                 {"id":"b","left":300,"left90":0,"open90":0,"width":2,"before":0}]}
  Optional: "worth", "step", "floor", "critical", "inertia"; "blind" (no estimate of its end);
  "span" (1 s: its runtime in the processor-sharing baseline, the unit of lateness).
)";

/// Reads {"cores","worth","step","floor","critical","inertia","containers":[{"id","left","left90",
/// "open90","blind","from","width","due","span","before","share"}]}; all but cores, containers, id
/// and left may be absent or null. Other fields are ignored. Errors: a missing or ill-typed field,
/// one out of its range, an id that is there twice; the sentence names the field.
[[nodiscard]] Result<MilestoneState> milestone_state_from(const boost::json::value& json);

/// What milestone_state_from() reads back as the same state.
[[nodiscard]] boost::json::value to_json(const MilestoneState& state);

/// {"containers":[{"id","rank","share","key"}]}
[[nodiscard]] boost::json::value to_json(const MilestoneDecision& decision);

}  // namespace flowcon::ctrl::policy
