// SPDX-License-Identifier: Apache-2.0
// What all hosts tell, as the policy is shown it, and what it plans, as orders to the owners. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cluster/policy/queue_policies.h"
#include "cluster/queue/hosts_json.h"

namespace flowcon::cluster::queue {

struct AllJobs {
  /// A job of the view, at the same place.
  struct Known {
    std::string owner;  ///< id of its host
    std::int64_t version = 0;
    bool is_waiting = false;
    std::vector<std::string> avoided;
  };
  policy::QueueView view;
  std::vector<std::string> hosts;  ///< ids, at the places of view.nodes
  std::vector<Known> known;
};

/// Of the hosts that are heard. A job that holds its room on one that is not is left out: it runs,
/// as far as anybody knows. Of jobs with one id the first one counts. `now`, `starve_limit`,
/// `pause` as in policy::QueueView.
[[nodiscard]] AllJobs all_jobs(const std::vector<HostJobs>& hosts, double now, double starve_limit,
                               double pause);

/// By owner; of each job of the plan one. A start waits for the room that it was decided on; what
/// comes after it finds the rest. A job goes to no host that has just refused it, but to another
/// that has room. At most one job is parked at a time: what that leaves is known when it has gone.
[[nodiscard]] std::map<std::string, std::vector<JobOrder>> orders_of(const AllJobs& all,
                                                                     const policy::QueuePlan& plan);

}  // namespace flowcon::cluster::queue
