// SPDX-License-Identifier: Apache-2.0
// How many nodes each job gets in each of the next steps (rolling horizon of the elastic allocator,
// ALGORITHMS.md §11): the plan with the largest sum, over jobs and steps, of the share served. Only
// its first step is carried out. A pure function: no clock, no I/O, no logging.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace flowcon::cluster::policy {

/// One job. Units: `left` in node hours.
struct HorizonJob {
  std::string id;
  double left = 1;  ///< above 0
  std::int64_t n_min = 1;
  std::int64_t n_max = 1;
  std::optional<std::int64_t> now;  ///< nodes that it has; counts only where there is a pause
  /// Nodes and the speed with them, one for each legal number; empty: n * 0.8^(log2 n).
  std::vector<std::pair<std::int64_t, double>> speed;
  std::optional<double> pause = {};  ///< seconds, its own in the place of HorizonState::pause
};

struct HorizonState {
  static constexpr std::int64_t kMostNodes = 100'000;
  static constexpr int kMostSteps = 100;
  static constexpr double kMostMinutes = 1e6;
  static constexpr std::size_t kMostJobs = 10'000;

  std::int64_t nodes = 0;
  int steps = 5;
  double minutes = 5;  ///< of one step, above 0
  bool allow_zero = false;
  double pause = 0;  ///< seconds, at the beginning of a step with another number than before
  std::vector<HorizonJob> jobs;
};

struct HorizonPlan {
  std::string id;
  std::vector<int> nodes;  ///< in each step
};

struct HorizonDecision {
  double objective = 0;  ///< sum over jobs and steps of the share served
  double bound = 0;      ///< no plan has more (to rounding)
  std::vector<HorizonPlan> plan;
  std::vector<std::string> waiting;  ///< not admitted, in order
};

/// The legal numbers of a job, ascending: powers of two from n_min to n_max and the nodes there
/// are, and 0 with allow_zero.
[[nodiscard]] std::vector<int> legal_numbers(const HorizonState& state, const HorizonJob& job);

/// Nodes of one node's speed that `number` of them are worth to the job.
[[nodiscard]] double speed_of(const HorizonJob& job, int number);

/// What a step of the job begins with that has another number than the one before. Unit: seconds.
[[nodiscard]] inline double pause_of(const HorizonState& state, const HorizonJob& job) {
  return job.pause.value_or(state.pause);
}

/// How much is looked for: a plan from the starts alone, bounded by dropping the caps; or the best
/// plan and the proof.
enum class HorizonEffort { plan, full };

/// Jobs are admitted in order while their least numbers fit together; the others wait. The state
/// must be such that every job has a legal number and a speed for each (as allocate_json.h reads).
/// The search ends by counted work: the plan is optimal where objective and bound are equal.
[[nodiscard]] HorizonDecision decide_horizon(const HorizonState& state,
                                             HorizonEffort effort = HorizonEffort::full);

}  // namespace flowcon::cluster::policy
