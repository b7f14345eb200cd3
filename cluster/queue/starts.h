// SPDX-License-Identifier: Apache-2.0
// Which jobs of a plan start now, and where, of what the hosts have idle. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "cluster/policy/queue_policies.h"
#include "cluster/queue/all_jobs.h"
#include "cluster/queue/allocation.h"
#include "cluster/queue/places.h"

namespace flowcon::cluster::queue {

/// A job that is planned to start, by its place in AllJobs::known.
struct Start {
  std::size_t job = 0;
  std::optional<Spot> spot;    ///< empty: not now
  bool is_parked_for = false;  ///< it waits for room that a job leaves, and has it already
};

/// In the order of the plan; what they take, or wait for, goes off `idle`. Each keeps its planned
/// room from the others, unless workers leave for it (`allocation`, null: none), or another one's
/// data was sent there. One that could start, and whose room is taken so, starts elsewhere if it
/// may.
[[nodiscard]] std::vector<Start> starts_of(const AllJobs& all, const policy::QueuePlan& plan,
                                           const Allocation* allocation, Places& places,
                                           std::vector<policy::Amounts>& idle);

}  // namespace flowcon::cluster::queue
