// SPDX-License-Identifier: Apache-2.0
// What no policy can beat, whatever it knows: clairvoyant lower bounds of a schedule.
#pragma once

#include <cstddef>

#include "sim/job.h"

namespace flowcon::sim {

/// Units: seconds. Times of a job count from its arrival; the makespan from the schedule's begin.
struct Bounds {
  double mean_completion = 0;
  double mean_t90 = 0;
  double makespan = 0;
  std::size_t jobs = 0;  ///< those that are counted: that come to an end of their own, complete
};

/// The k-th end cannot come before the k-th end of either of two easier worlds: all hosts' cores in
/// one that any job can use whole, shortest remaining work first (which has, at every moment, ended
/// the most jobs that can have ended); and every job alone on a host from its arrival on. The mean
/// takes the later of the two for each k. Jobs that are killed or crash take no room in it.
[[nodiscard]] Bounds bounds_of(const Schedule& schedule);

}  // namespace flowcon::sim
