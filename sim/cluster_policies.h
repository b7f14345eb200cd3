// SPDX-License-Identifier: Apache-2.0
// Policies that move jobs between simulated hosts: SpeCon, and ours.
#pragma once

#include <memory>
#include <vector>

#include "sim/drive.h"
#include "sim/policy.h"

namespace flowcon::sim {

/// SpeCon as the daemons do it: categorise, speculate, rebalance (Algorithms 3-5), each job moved
/// and rebalanced once at most.
[[nodiscard]] std::unique_ptr<ClusterPolicy> make_specon(const PolicyParameters& parameters);

/// Moves by the work that is left (cluster/policy/steer.h), as `hosts` forecast it. They must
/// outlive it.
[[nodiscard]] std::unique_ptr<ClusterPolicy> make_balance(std::vector<const ForecastingHost*> hosts,
                                                          const PolicyParameters& parameters);

}  // namespace flowcon::sim
