// SPDX-License-Identifier: Apache-2.0
// One recorded decision in a sentence that a person understands. Pure: the decision is made again
// from its recorded state by the very function that made it.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "ctrl/policy/executor.h"
#include "ctrl/policy/milestone.h"

namespace flowcon::ctrl {

/// "completing since 12:04:10: growth 0.8 %/s is under alpha 3 %; limit lowered from 1 to 0.25".
/// `since` is when the container came to its list, as a person reads a clock; "" = not known.
/// `granted` is the share it was given, where floor, ceiling, pin or pause made another of the
/// limit. Errors: the container is not in the state.
[[nodiscard]] Result<std::string> explain(const policy::ExecutorState& state, const std::string& id,
                                          const std::string& since,
                                          const std::optional<double>& granted);

/// "arrived: joins NL with limit 1, and the executor runs at once". Errors: it is not in the state.
[[nodiscard]] Result<std::string> explain(const policy::ListenerState& state,
                                          const std::string& id);

/// "rank 1 of 3: 420 CPU s to its end …; due in 310 s; share 0.86". Errors: it is not in the state.
[[nodiscard]] Result<std::string> explain(const policy::MilestoneState& state,
                                          const std::string& id,
                                          const std::optional<double>& granted);

/// The same, for many of one round: `decision` is what decide_milestone() makes of the state.
[[nodiscard]] Result<std::string> explain(const policy::MilestoneState& state,
                                          const policy::MilestoneDecision& decision,
                                          const std::string& id,
                                          const std::optional<double>& granted);

}  // namespace flowcon::ctrl
