// SPDX-License-Identifier: Apache-2.0
// Workers of running jobs taken off for one that waits, and added where nodes idle: KOD2's
// Algorithms 2 and 3. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cluster/policy/affinity.h"
#include "cluster/policy/room.h"

namespace flowcon::cluster::policy {

/// A job as the queue counts with it.
struct QueuedGroup {
  std::string_view id;
  double since = 0;
  double weight = 0;
  Gang minimum;
  std::int64_t max = 1;
  Placement placed;
  std::int64_t workers = 0;  ///< in `placed`
  bool is_running = false;
};

/// The order by weight: greatest first, then the one that came first, then by id.
[[nodiscard]] bool comes_before(const QueuedGroup& a, const QueuedGroup& b);

/// Weights of two jobs that count as the same.
constexpr double kSameWeight = 1e-12;

/// A worker of `group` that leaves `node`.
struct Removal {
  QueuedGroup* group = nullptr;
  std::size_t node = 0;
};

/// What makes room for the whole minimum of a job on `node`, in this order.
struct ScaleIn {
  std::size_t node = 0;
  std::vector<Removal> removals;
};

struct ScaleInOptions {
  bool check_after = true;  ///< a node is tested once more after its last worker (printed: not)
  bool prune = false;       ///< only the removals on the node that was found are made
};

/// Workers of `running`, which are in the order by weight, that leave so that `newcomer` finds room
/// for its whole minimum on one node. The jobs of least weight give first, each what it has beyond
/// its minimum and first where it has no parameter server; those of greater weight, and those of
/// the same weight that came before, give nothing. Empty where no node is found.
/// Source: KOD2, Algorithm 2.
[[nodiscard]] std::optional<ScaleIn> scale_in(Room& room, const std::vector<QueuedGroup*>& running,
                                              const QueuedGroup& newcomer,
                                              const ScaleInOptions& options);

/// Adds workers to a job up to its maximum, node by node as listed, and takes their room. Gives how
/// many it added to each node.
/// Source: KOD2, Algorithm 3.
std::vector<NodeCount> scale_out(Room& room, QueuedGroup& group, Refusals& refusals);

/// One worker of a job leaves a node.
void remove_worker(QueuedGroup& group, std::size_t node);

}  // namespace flowcon::cluster::policy
