// SPDX-License-Identifier: Apache-2.0
// Which host a job that waits will get next, and when: that where running jobs end first, by what
// is left of them. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "cluster/queue/all_jobs.h"

namespace flowcon::cluster::queue {

/// Seconds before its cores are free in which a job may begin, whatever is thought of how long it
/// imports, and in which it has what others leave.
inline constexpr double kMostEarly = 120;

struct NextHost {
  std::size_t job = 0;   ///< its place in AllJobs::view.jobs
  std::size_t node = 0;  ///< its place in AllJobs::hosts
  double seconds = 0;    ///< until there is room
  bool is_due = false;   ///< what it lacks there is to be sent now
  /// Seconds until it is to begin beside those whose place it gets, 0 or less: now. None: it waits
  /// until they have ended.
  std::optional<double> early_in = {};
};

/// Of the jobs that wait, `waiting` in their order, each as soon as it fits into what is `idle` and
/// what comes free; one of which nothing is said will not start in sight. A running job of which it
/// is not known how long it takes never ends. What a job lacks is due once its way takes so long,
///     seconds ≤ 1.5 · bytes / rate + 10,
/// and goes to each host for one job at a time; for one with GPUs only where it needs no choice
/// among them. It begins there when what is left of the others is
/// no more than what it takes to its own first progress (the upper estimate, 3 s at least), so that
/// it imports and loads beside their last steps: where all but the cores is there for both, for one
/// job at a time, in the order of the queue. Source: Liquid, 6.1; the bound and that
/// order are ours.
[[nodiscard]] std::vector<NextHost> next_hosts(const AllJobs& all,
                                               const std::vector<std::size_t>& waiting,
                                               std::vector<policy::Amounts> idle);

/// What the policy decides, but that jobs which would have what they lack later where there is room
/// now than room on a nearer host, by what is left of the jobs that run there, wait for that: it is
/// decided anew then, where may_go() says so, so that others have the room; nobody is parked for
/// them. What comes free goes first to those that only that host may have. One that has waited
/// longer than allowed goes, and so does each under a policy that keeps others waiting with it.
/// Source: Zaharia et al., Delay Scheduling (2010); that the time to wait goes by what is left is
/// ours.
[[nodiscard]] Result<policy::QueuePlan> decide_near(AllJobs& all,
                                                    const policy::QueuePolicyKind& kind);

}  // namespace flowcon::cluster::queue
