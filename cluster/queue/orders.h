// SPDX-License-Identifier: Apache-2.0
// What a policy plans for the jobs of all hosts, as orders to their owners. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cluster/policy/queue_policies.h"
#include "cluster/queue/all_jobs.h"
#include "cluster/queue/allocation.h"
#include "cluster/queue/hosts_json.h"
#include "cluster/queue/places.h"

namespace flowcon::cluster::queue {

/// How the obstacle of a job begins whose host and time are known.
inline constexpr const char* kNextOn = "next on ";

/// By owner; of each job of the plan one. A start waits for the room that it was decided on; what
/// comes after it finds the rest. Of the hosts that have room a job goes to the one it was sent to,
/// else to the one where what it needs is, or is first, by more than a second; else to that of the
/// plan, or to those. It goes to none that has just refused it. One that needs several hosts goes
/// to those where its tasks wait least for each other (Places). At most one job is parked at a
/// time: what that leaves is known when it has gone. First are those that leave a host that drains,
/// whatever the plan and the allocation say.
/// With an allocation elastic jobs come to the workers that it says; without, they have what nobody
/// waits for (KOD2). `rounds`: where placements are recorded; null: nowhere.
[[nodiscard]] std::map<std::string, std::vector<JobOrder>> orders_of(
    const AllJobs& all, const policy::QueuePlan& plan, const Allocation* allocation = nullptr,
    const PlacePolicyKind& place = place_policies().front(),
    std::vector<PlaceRound>* rounds = nullptr);

}  // namespace flowcon::cluster::queue
