// SPDX-License-Identifier: Apache-2.0
// What people ask of the cluster as docs/api.md answers it: structs, and the one place that makes
// JSON of them. No I/O, no clock.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cluster/moves.h"
#include "cluster/network.h"
#include "cluster/policy/cluster_policy.h"
#include "cluster/policy/report.h"

namespace flowcon::cluster {

/// What a host has to do. Units: usage is a share (0..1) of its cores.
struct LoadShown {
  policy::Counts counts;
  double usage = 0;
  double cores = 0;
  std::int64_t containers = 0;
  bool is_draining = false;
};

/// What a host gives to jobs of the queue, all in all. Units: cores, bytes.
struct OfferShown {
  double cores = 0;
  double memory = 0;
};

/// One host of GET /v1/cluster. Empty: not known.
struct HostShown {
  std::string name;
  std::string id;
  std::string state;  ///< "here", "reachable", "unknown"
  std::optional<LoadShown> load;
  std::optional<OfferShown> offer;
  std::optional<bool> queue_waits;
  std::optional<std::int64_t> moves;  ///< that keep something there
  std::string error;
};

/// GET /v1/cluster.
struct ClusterShown {
  std::vector<HostShown> hosts;  ///< the one that answers first; there is one
  Member coordinator;
  std::vector<policy::HostReport> reports;  ///< of those that answered
  std::vector<MoveView> moves;
};

/// One move of a plan. Hosts by id and by name.
struct PlannedMove {
  std::string container;  ///< its id
  std::string name;
  std::string from;
  std::string from_name;
  std::string to;
  std::string to_name;
  std::string state;  ///< "planned", "begun", "later", "refused"
  std::string error;
};

/// POST /v1/rebalance.
struct RebalanceShown {
  std::string coordinator;  ///< its name
  bool is_dry = false;
  std::string policy;
  bool is_due = false;
  std::optional<policy::Evenness> evenness;
  std::vector<PlannedMove> moves;
};

/// {"here":host,"coordinator","coordinator_id","hosts":[host],"containers":[…],"moves":[…]}
[[nodiscard]] boost::json::object to_json(const ClusterShown& shown);

/// {"coordinator","dry_run","policy","due","balance_factor","branch","moves":[…]}
[[nodiscard]] boost::json::object to_json(const RebalanceShown& shown);

}  // namespace flowcon::cluster
