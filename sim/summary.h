// SPDX-License-Identifier: Apache-2.0
// Many runs summarised: each policy against free competition on the same schedules.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/engine.h"
#include "sim/policy.h"

namespace flowcon::sim {

/// A mean over the seeds and its standard error; the latter is empty with one seed.
struct Figure {
  double mean = 0;
  std::optional<double> se;
};

/// Units: percent against free; negative is better. Times of a job count from its arrival;
/// crashed and killed jobs do not count.
struct PolicySummary {
  std::string policy;
  Figure mean_completion_percent;
  Figure t90_percent;  ///< mean time to 90 % of the improvement
  Figure makespan_percent;
  Figure best_job_percent;
  Figure worst_job_percent;
  Figure improved;             ///< jobs that end earlier
  Figure above_bound_percent;  ///< mean JCT above the clairvoyant bound
  double worst_of_all = 0;     ///< percent: the worst job of all seeds
  double moves_per_job = 0;
  std::size_t jobs = 0;         ///< of one seed
  double mean_completion = 0;   ///< seconds
  std::vector<double> changes;  ///< percent, of every job of every seed, in order
};

struct Experiment {
  std::function<Schedule(std::uint64_t seed)> schedule;
  std::vector<const PolicyKind*> policies;
  PolicyParameters policy_parameters;
  EngineParameters engine;
  std::uint64_t first_seed = 1;
  std::uint64_t seeds = 1;
};

/// Runs every policy on every seed. Calls `progress`, if set, before each run.
[[nodiscard]] std::vector<PolicySummary> run_experiment(
    const Experiment& experiment,
    const std::function<void(const std::string& what)>& progress = nullptr);

/// Percent of `value` above `base`; 0 where there is no base.
[[nodiscard]] double percent(double value, double base);

/// Mean and standard error.
[[nodiscard]] Figure figure_of(const std::vector<double>& values);

}  // namespace flowcon::sim
