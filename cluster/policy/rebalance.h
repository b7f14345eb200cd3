// SPDX-License-Identifier: Apache-2.0
// How the load is evened out when everything has converged: SpeCon's rebalancing (Algorithm 5).
// Pure functions: no clock, no I/O, no logging. The daemon, flowcon-sim and the simulator call
// these very ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace flowcon::cluster::policy {

/// One container as it is rebalanced.
/// Units: seconds on the clock of RebalanceState::now. Clocks of two hosts are not compared: a host
/// sends how long ago, and whoever decides makes times of it. Empty, or not finite: never.
struct SettledContainer {
  std::string id;
  std::optional<double> converged_at;
  std::optional<double> migrated_at;
  bool rebalanced = false;  ///< has had its one rebalancing: stays
};

/// One host and all that it runs.
struct WorkerLoad {
  std::string id;
  std::vector<SettledContainer> containers;
};

/// How the balance factor, containers / workers, becomes a whole number.
enum class Rounding { floor, ceil };

/// "floor", "ceil".
[[nodiscard]] constexpr const char* name(Rounding rounding) {
  return rounding == Rounding::floor ? "floor" : "ceil";
}

/// What Algorithm 5 decides from. guard, rounding and fill are ours; as they stand here it is the
/// published algorithm.
struct RebalanceState {
  static constexpr const char* kAlgorithm = "rebalance";

  double now = 0;  ///< seconds, on any clock that the containers' times are on too
  /// A source must hold at least two containers more than the target, so that a move never just
  /// swaps which host is idle.
  bool guard = false;
  Rounding rounding = Rounding::floor;
  bool fill = false;  ///< a target takes containers while it has room, not one alone
  std::vector<WorkerLoad> workers;
};

/// Which of the algorithm's two cases it is: some worker has no container, or none.
enum class Branch { idle, uneven };

/// "idle", "uneven".
[[nodiscard]] constexpr const char* name(Branch branch) {
  return branch == Branch::idle ? "idle" : "uneven";
}

struct Move {
  std::string container;
  std::string from;
  std::string to;
};

struct RebalanceDecision {
  std::int64_t balance_factor = 0;  ///< containers a worker
  Branch branch = Branch::uneven;
  std::vector<Move> moves;  ///< in the order to carry them out; no container is twice in it
};

/// One pass of Algorithm 5. Targets are the idle workers, which take up to the balance factor, or,
/// where none is idle, the workers below the balance factor less one, which take up to that; who is
/// a target is settled before the first move. Each takes, in the order of the workers, the
/// container that converged (or was migrated) last of those that are not on a target and were never
/// rebalanced, first listed on a tie; one a pass unless `fill`. Without workers there are no moves.
/// O(n log n) in the number of containers.
/// Source: SpeCon, Algorithm 5; the inner loop looks at the target's count, the source's is a
/// misprint.
[[nodiscard]] RebalanceDecision decide_rebalance(const RebalanceState& state);

/// What the question whether to rebalance needs of one host.
struct Activity {
  std::int64_t containers = 0;  ///< all that run
  std::int64_t settled = 0;     ///< those of them that are in CC or migrated
};

/// Is it time for Algorithm 5? When every container in the cluster is in CC or migrated, and there
/// is one; with `when_idle` (ours) also whenever a host idles while another has two or more.
/// O(hosts).
/// Source: SpeCon, Algorithm 5.
[[nodiscard]] bool is_rebalance_due(const std::vector<Activity>& hosts, bool when_idle);

}  // namespace flowcon::cluster::policy
