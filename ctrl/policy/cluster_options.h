// SPDX-License-Identifier: Apache-2.0
// What an admin says of how containers migrate between hosts: options of flowcond, and all that a
// policy between hosts is told of them. The daemon and the simulator hand over the same record.
#pragma once

#include <cstdint>

namespace flowcon::ctrl::policy {

struct ClusterOptions {
  double categorise_interval = 30;  ///< seconds between two rounds of Algorithm 3
  /// A container progresses while |value - value one round before| is above it; values are shares
  /// of the first stable one, or of what growth.normalise says.
  double categorise_alpha = 0.01;
  std::uint32_t max_moves = 2;  ///< migrations of one container by policies, under balance
  bool speculate = true;        ///< SpeCon migrates converged containers, each once at most
  /// SpeCon evens out the load when all containers have converged or were migrated; and also
  /// whenever a host has none beside one that has two or more.
  bool rebalance_idle = true;
};

}  // namespace flowcon::ctrl::policy
