// SPDX-License-Identifier: Apache-2.0
// Many runs of a schedule with groups of tasks summarised: each policy against the first one on
// the same jobs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/groups/engine.h"
#include "sim/groups/schedules.h"
#include "sim/render.h"
#include "sim/summary.h"

namespace flowcon::sim::groups {

/// Units: percent against the first policy, negative is better; shares. Times of a job count from
/// its arrival. Jobs that never end count in `stuck` alone.
struct GroupSummary {
  std::string model;  ///< of all jobs; "mixed"
  std::string policy;
  Figure mean_completion_percent;
  Figure makespan_percent;
  Figure cpu_use;              ///< cores of working jobs, of all cores
  Figure stuck;                ///< jobs that never end
  Figure resizes;              ///< of all jobs
  double mean_completion = 0;  ///< seconds
  double makespan = 0;         ///< seconds
};

struct GroupExperiment {
  const ScheduleKind* schedule = nullptr;
  std::vector<const GroupPolicyKind*> policies;
  GroupOptions options;  ///< without a model: each of the schedule's
  GroupParameters parameters;
  std::uint64_t first_seed = 1;
  std::uint64_t seeds = 1;
};

/// Runs every policy on every seed, model after model. Calls `progress`, if set, before each run.
[[nodiscard]] std::vector<GroupSummary> run_experiment(
    const GroupExperiment& experiment,
    const std::function<void(const std::string& what)>& progress = nullptr);

/// JSON: an array with one object a model and policy; CSV: the same members as columns.
[[nodiscard]] std::string render(const std::vector<GroupSummary>& summaries, Format format);

}  // namespace flowcon::sim::groups
