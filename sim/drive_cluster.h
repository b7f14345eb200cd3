// SPDX-License-Identifier: Apache-2.0
// A policy of flowcond between simulated hosts: the very object on each, shown what a daemon would
// see. Unlike the daemons it moves several containers of a host at once, and decides while others
// are on their way: those count where they go.
#pragma once

#include <memory>
#include <vector>

#include "cluster/policy/cluster_policies.h"
#include "sim/drive.h"
#include "sim/policy.h"

namespace flowcon::sim {

/// `hosts` say what is left of their jobs, and must outlive it.
[[nodiscard]] std::unique_ptr<ClusterDriver> drive(const cluster::policy::ClusterPolicyKind& kind,
                                                   const std::vector<const ForecastingHost*>& hosts,
                                                   const PolicyParameters& parameters);

}  // namespace flowcon::sim
