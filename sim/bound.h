// SPDX-License-Identifier: Apache-2.0
// Clairvoyant lower bounds of a schedule, which no policy can beat.
#pragma once

#include <cstddef>

#include "sim/job.h"

namespace flowcon::sim {

/// Units: seconds. Times of a job count from its arrival; the makespan from the schedule's begin.
struct Bounds {
  double mean_completion = 0;
  double mean_t90 = 0;
  double makespan = 0;
  std::size_t jobs = 0;  ///< counted jobs: those that end by themselves, complete
};

/// The k-th end cannot come before the k-th end of either of two easier worlds: all hosts' cores in
/// one that any job can use whole, shortest remaining work first (which has, at every moment, ended
/// the most jobs that can have ended); and every job alone on a host from its arrival on. The mean
/// takes the later of the two for each k. Killed and crashed jobs take no part.
[[nodiscard]] Bounds bounds_of(const Schedule& schedule);

}  // namespace flowcon::sim
