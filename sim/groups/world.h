// SPDX-License-Identifier: Apache-2.0
// Jobs of parameter servers and workers, the nodes that they run on, and how fast they go.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/policy/place.h"
#include "cluster/policy/room.h"

namespace flowcon::sim::groups {

using cluster::policy::Amounts;
using cluster::policy::NodeCount;
using cluster::policy::Placement;
using cluster::policy::PlaceNode;

/// A job of `ps` parameter servers and between `min` and `max` workers.
/// Units: seconds of simulated time; `work` in seconds at rate 1.
struct GroupJob {
  std::string id;
  double arrival = 0;
  double work = 0;
  double slowdown = 0;  ///< c: what it loses to the network when all its pairs are remote
  std::int64_t min = 1;
  std::int64_t max = 1;
  std::int64_t ps = 1;
  Amounts worker_request;
  Amounts ps_request;
  bool has_counter = true;  ///< it tells what is left of it
};

/// The law of speed-up. With n workers of k cores a job has rate k^cores · n^workers, divided by
/// 1 + c · f · load: f is the share of its pairs of parameter server and worker on two nodes.
struct Law {
  double cores = 0;
  double workers = 0;
  /// load = max(1, crowd / 2), crowd: over the nodes of its remote pairs the greatest sum of c over
  /// the remote pairs of all jobs that touch the node. Else load = 1, and f is the share of its
  /// workers that are not on the node with most of its parameter servers.
  bool is_network_shared = false;
};

struct GroupSchedule {
  std::vector<PlaceNode> nodes;  ///< all idle
  std::vector<GroupJob> jobs;    ///< by arrival
  Law law;
  double starve_limit = 300;  ///< seconds
  std::uint64_t seed = 1;     ///< for what policies draw
};

}  // namespace flowcon::sim::groups
