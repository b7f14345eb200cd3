// SPDX-License-Identifier: Apache-2.0
// The simulation itself: time goes from event to event, hosts divide their cores as the kernel
// does, jobs work, print and end. Deterministic: the same input gives the same numbers, to the bit.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/job.h"
#include "sim/policy.h"

namespace flowcon::sim {

struct EngineParameters {
  /// Lost to sharing: with k effective sharers (sim/share.h) every CPU second does
  /// 1/(1 + contention (k-1)) CPU seconds of work.
  double contention = 0;
  double move_seconds = 5;  ///< how long a migrating job stands still
};

/// The outcome of one job. Units: seconds of simulated time, CPU seconds.
struct Outcome {
  enum class End { running, complete, crashed, killed };
  End end = End::running;
  double finished = 0;
  std::optional<double> reached90;  ///< when 90 % of its improvement was reached
  double worked = 0;                ///< work done
  std::uint32_t moves = 0;
  std::size_t host = 0;  ///< where it ended
};

struct RunResult {
  std::vector<Outcome> jobs;  ///< in the order of the schedule
  double worked = 0;          ///< CPU seconds of work, all jobs
  std::uint64_t decisions = 0;
  std::uint64_t events = 0;
};

/// Runs a schedule to its end. Every job ends: the engine gives each at least a millionth of a
/// core, whatever the policy says.
[[nodiscard]] RunResult run(const Schedule& schedule, PolicySet& policy,
                            const EngineParameters& parameters);

}  // namespace flowcon::sim
