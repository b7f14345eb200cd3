// SPDX-License-Identifier: Apache-2.0
// `flowcon-sim run` of schedules whose jobs are groups of tasks: kod2, liquid-N.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/groups/policy.h"
#include "sim/groups/schedules.h"

namespace flowcon::sim {

/// The options that a schedule takes, with their dashes.
[[nodiscard]] std::vector<std::string> group_options(const groups::ScheduleKind& schedule);

/// "a, b and c"
[[nodiscard]] std::string listed(const std::vector<std::string>& words);

/// What the runs print. `words`: the given options, as text, by their names. Errors: an option out
/// of range, a policy or model that the schedule has not; the sentence names what it has.
[[nodiscard]] Result<std::string> run_groups(
    const groups::ScheduleKind& schedule,
    const std::map<std::string, std::string, std::less<>>& words,
    const std::function<void(const std::string& what)>& progress);

}  // namespace flowcon::sim
