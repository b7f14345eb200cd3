// SPDX-License-Identifier: Apache-2.0
// Who of the queue starts, who gives workers and who gets some: KOD2's weighted queue (Algorithms 1
// to 3). Pure functions: no clock, no I/O, no logging.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/policy/room.h"

namespace flowcon::cluster::policy {

/// A job of the queue: `ps` parameter servers and between `min` and `max` workers.
/// Units: `since` in seconds on the clock of QueueState::now.
struct QueueJob {
  std::string id;
  double since = 0;   ///< when it came
  double weight = 0;  ///< of waiting and running ones; that of a new one is computed
  std::int64_t min = 1;
  std::int64_t max = 1;
  std::int64_t ps = 0;
  Amounts worker_request;  ///< of one worker
  Amounts ps_request;      ///< of one parameter server
  Placement placed;        ///< of running ones, by place in QueueState::nodes
  bool done = false;       ///< of running ones: it has ended and still holds its room
};

/// Whose request the weight rests on: one worker's, or all ps and `min` workers'.
enum class WeightBasis { worker, job };

/// "worker", "job".
[[nodiscard]] constexpr const char* name(WeightBasis basis) {
  return basis == WeightBasis::worker ? "worker" : "job";
}

/// What a pass decides from. As the options stand here it is the published algorithm with its
/// misprints settled.
struct QueueState {
  static constexpr const char* kAlgorithm = "queue";

  double now = 0;           ///< seconds, on any clock
  double starve_limit = 0;  ///< a job that has waited longer gets weight 1
  WeightBasis basis = WeightBasis::worker;
  bool prune = false;             ///< no worker leaves another node than the one where a job starts
  bool repeat = false;            ///< passes follow until one starts nothing
  bool check_after = true;        ///< false: as printed, no test after a node's last worker
  bool starve_everywhere = true;  ///< false: as printed, weights grow in the branch `rest` alone
  std::vector<QueueNode> nodes;
  std::vector<QueueJob> waiting;
  std::vector<QueueJob> running;
  std::vector<QueueJob> arriving;  ///< "new"
};

/// Has the first of the queue at least the weight of every running job (`top`), or not (`rest`)?
enum class QueueBranch { top, rest };

/// "top", "rest".
[[nodiscard]] constexpr const char* name(QueueBranch branch) {
  return branch == QueueBranch::top ? "top" : "rest";
}

struct QueueAction {
  enum class Op { enqueue, start, remove_worker, add_worker, starve, finish };
  Op op = Op::enqueue;
  std::string job;
  double weight = 0;        ///< enqueue
  bool by_preempt = false;  ///< start: other jobs gave workers for it
  Placement placed;         ///< start
  std::size_t node = 0;     ///< remove_worker, add_worker
};

/// "enqueue", "start", …
[[nodiscard]] const char* name(QueueAction::Op op);

struct WaitingJob {
  std::string id;
  double weight = 0;
};

struct RunningJob {
  std::string id;
  double weight = 0;
  Placement placed;
};

struct IdleNode {
  std::string id;
  Amounts idle;
};

struct QueueDecision {
  std::optional<QueueBranch> branch;  ///< of the first pass; empty where nobody waited
  std::vector<QueueAction> actions;   ///< in the order to carry them out
  std::vector<WaitingJob> waiting;    ///< what they leave
  std::vector<RunningJob> running;
  std::vector<std::string> finished;
  std::vector<IdleNode> nodes;  ///< as in the state; Placement goes by their places
};

/// The largest amounts that one node has, each by itself.
struct LargestNode {
  double cpu = 0;
  double mem = 0;
};
[[nodiscard]] LargestNode largest_of(const std::vector<QueueNode>& nodes);

/// The weight of a job when it comes: 1 / (1 + e^−ω'), ω' = min / (cpu/CPU + mem/MEM); 1 where
/// nothing of that is requested. Between 0.5 and 1; many workers of little make it large.
/// Source: KOD2, eq. 1.
[[nodiscard]] double queue_weight(const QueueJob& job, const LargestNode& largest,
                                  WeightBasis basis);

/// One pass of the queue, or passes until one starts nothing. A job starts as a whole or not at
/// all; idle amounts stay above −1e-9 where they were.
/// Errors: requests of nearly nothing with counts so large that the decision would have more than a
/// million steps; the sentence names the job.
/// O(jobs · nodes) at most; refusals are O(1) while the cluster is full.
/// Source: KOD2, Algorithms 1 to 3.
[[nodiscard]] Result<QueueDecision> decide_queue(const QueueState& state);

}  // namespace flowcon::cluster::policy
