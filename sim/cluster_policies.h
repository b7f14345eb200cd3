// SPDX-License-Identifier: Apache-2.0
// Policies that migrate jobs between simulated hosts: SpeCon, and ours.
#pragma once

#include <memory>
#include <vector>

#include "sim/drive.h"
#include "sim/policy.h"

namespace flowcon::sim {

/// SpeCon as the daemons do it: categorise, speculate, rebalance (Algorithms 3-5), each job
/// migrates and is rebalanced at most once.
[[nodiscard]] std::unique_ptr<ClusterPolicy> make_specon(const PolicyParameters& parameters);

/// Migrations by remaining work (cluster/policy/steer.h), as `hosts` forecast it. They must
/// outlive it.
[[nodiscard]] std::unique_ptr<ClusterPolicy> make_balance(std::vector<const ForecastingHost*> hosts,
                                                          const PolicyParameters& parameters);

}  // namespace flowcon::sim
