// SPDX-License-Identifier: Apache-2.0
// Which job moves where when the work that is left is known, more or less: ours, beside SpeCon. A
// host that will be idle early takes jobs from the one that will be busy longest, if what is won is
// more than the move costs. A pure function: no clock, no I/O, no logging.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cluster/policy/rebalance.h"

namespace flowcon::cluster::policy {

/// One job of a host. Units: CPU seconds, cores.
struct SteeredJob {
  std::string id;
  double left = 1;          ///< expected work to its end, above 0
  double width = 1;         ///< cores that it can use
  std::uint32_t moves = 0;  ///< how often it was moved
  bool may_move = true;
};

/// One host, with what is on its way to it. Units: cores.
struct SteeredHost {
  std::string id;
  double cores = 1;
  std::vector<SteeredJob> jobs;
};

struct SteerState {
  static constexpr const char* kAlgorithm = "balance";

  double move_seconds = 5;      ///< how long a job stands still while it moves, as measured
  std::uint32_t max_moves = 2;  ///< of one job
  /// What a move has to win: so many times its cost, in seconds of waiting of all jobs together.
  double gain = 3;
  std::vector<SteeredHost> hosts;
};

struct SteerDecision {
  std::vector<Move> moves;  ///< no job is twice in it
};

/// A host is taken to serve its jobs shortest first. Moves are found one by one, at most one for
/// each host: from the host that is busy longest (the work on it over its cores, or its longest job
/// alone), to any other, the one that makes the sum of all ends and that of the two hosts' ends
/// least, as long as neither is busy longer than the first one was and the gain is there. Where the
/// busiest has none, the next one is asked, sixteen at most: one job without end is no reason that
/// all others wait. O(containers of a host * containers) a move; the same state, the same moves.
[[nodiscard]] SteerDecision decide_steer(const SteerState& state);

}  // namespace flowcon::cluster::policy
