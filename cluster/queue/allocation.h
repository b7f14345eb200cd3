// SPDX-License-Identifier: Apache-2.0
// How many workers each job is to have, by an allocator of cluster/policy: what is known of all
// jobs as nodes and node hours, and back. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/policy/queue_policies.h"
#include "cluster/queue/all_jobs.h"
#include "ctrl/policy/round.h"

namespace flowcon::cluster::queue {

struct Allocation {
  /// Of jobs that run and may change, and of groups that wait and get room.
  std::map<std::string, std::int64_t> workers;
  /// Jobs that wait and for which the others make room.
  std::set<std::string> admitted;
  bool knows_pauses = false;  ///< it has thought of what a change costs
  bool is_held = false;       ///< a job that starts again for it is away: nobody takes what it left
  ctrl::policy::Rounds rounds;
};

/// Units: seconds.
struct AllocateRule {
  std::string policy;   ///< a name of allocate_policies()
  double interval = 0;  ///< until it is decided anew
};

/// Do others make room for it? `allocation` null: nobody.
[[nodiscard]] inline bool makes_room_for(const Allocation* allocation, const std::string& job) {
  return allocation != nullptr && allocation->admitted.contains(job);
}

struct AllocatePolicyKind {
  std::string name;
  std::string summary;  ///< for the help: how many workers a job has
  /// As allocate(), `interval` seconds before it is decided anew.
  std::optional<Allocation> (*allocate)(const AllJobs& all, const policy::QueuePlan& plan,
                                        double interval);
};

[[nodiscard]] const std::vector<AllocatePolicyKind>& allocate_policies();

/// By the row of rule.policy. Empty for `kod2`, which takes and gives worker by worker (orders.h).
/// A node is a worker of the job that asks for least; another one's are so many nodes, rounded up
/// to a power of two. The numbers of workers are powers of two, from the least of the job to what
/// the hosts could hold if there were no other that may change. What the horizon leaves idle goes
/// to whom it helps most. Jobs that wait come in the order of the plan. What a job has left is
/// measured by its counter and its paces, else it is what the queue thinks of it; its priority
/// divides it. Source: ALGORITHMS.md §11.
[[nodiscard]] std::optional<Allocation> allocate(const AllJobs& all, const policy::QueuePlan& plan,
                                                 const AllocateRule& rule);

/// What an allocation holds for: the same text, the same jobs, ranges and hosts.
[[nodiscard]] std::string situation_of(const AllJobs& all);

/// Does it run with a number of workers that can be changed now?
[[nodiscard]] bool may_change(const AllJobs& all, std::size_t job);

}  // namespace flowcon::cluster::queue
