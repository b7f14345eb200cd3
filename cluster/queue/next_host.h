// SPDX-License-Identifier: Apache-2.0
// Which host a job that waits will get next, and when: that where running jobs end first, by what
// is left of them. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "cluster/queue/all_jobs.h"

namespace flowcon::cluster::queue {

struct NextHost {
  std::size_t job = 0;   ///< its place in AllJobs::view.jobs
  std::size_t node = 0;  ///< its place in AllJobs::hosts
  double seconds = 0;    ///< until there is room
  bool is_due = false;   ///< what it lacks there is to be sent now
};

/// Of the jobs that wait, `waiting` in their order, each as soon as it fits into what is `idle` and
/// what comes free; one of which nothing is said will not start in sight. A running job of which it
/// is not known how long it takes never ends. What a job lacks is due once its way takes so long,
///     seconds ≤ 1.5 · bytes / rate + 10,
/// and goes to each host for one job at a time. Source: Liquid, 6.1; the bound is ours.
[[nodiscard]] std::vector<NextHost> next_hosts(const AllJobs& all,
                                               const std::vector<std::size_t>& waiting,
                                               std::vector<policy::Amounts> idle);

}  // namespace flowcon::cluster::queue
