// SPDX-License-Identifier: Apache-2.0
// The published experiments with groups of tasks as schedules. docs/simulator.md lists what is
// assumed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/groups/world.h"

namespace flowcon::sim::groups {

/// Empty or negative: as the schedule has it.
struct GroupOptions {
  std::uint64_t seed = 1;
  std::string model;         ///< one of Kind::models
  double counters = 1;       ///< share of the jobs that tell what is left of them, 0..1
  double starve_limit = -1;  ///< seconds
};

struct ScheduleKind {
  std::string_view name;
  std::string_view summary;
  std::vector<std::string_view> models;    ///< all jobs are of one of them; empty: as drawn
  std::vector<std::string_view> policies;  ///< that it is for; the first is the baseline
  GroupSchedule (*make)(const GroupOptions& options);
};

[[nodiscard]] const std::vector<ScheduleKind>& group_schedules();

/// Null where there is none of that name.
[[nodiscard]] const ScheduleKind* find_group_schedule(std::string_view name);

}  // namespace flowcon::sim::groups
