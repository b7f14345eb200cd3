// SPDX-License-Identifier: Apache-2.0
// What decides who of the queue runs, by name: the decisions of queue.h and left_queue.h, driven
// for jobs as they are. Nobody else knows the names. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/policy/room.h"
#include "ctrl/policy/round.h"

namespace flowcon::cluster::policy {

/// A job as its owner tells of it: one worker, or workers and parameter servers that start
/// together. Units: seconds.
struct WaitingTask {
  std::string id;
  double since = 0;            ///< when it was submitted, on any clock
  double waited = 0;           ///< in all
  double served = 0;           ///< in all
  std::optional<double> left;  ///< empty: it cannot be estimated
  double priority = 1;         ///< factor on 1/left and on KOD2's exponent
  double weight = 0;           ///< as QueuePlan gave it; 0: it has none yet
  bool is_starved = false;     ///< as QueuePlan gave it
  std::int64_t workers = 1;    ///< that it has, or starts with
  std::int64_t ps = 0;
  Amounts request;           ///< of one worker
  Amounts ps_request;        ///< of one parameter server
  bool may_spread = false;   ///< its tasks may be on several nodes
  Placement placed;          ///< where it runs, by places in QueueView::nodes; empty: it does not
  bool is_parkable = false;  ///< of one that runs: it can save itself and wait again
};

[[nodiscard]] bool is_running(const WaitingTask& job);
/// All nodes that have a task of it, in their order.
[[nodiscard]] std::vector<std::size_t> nodes_of(const Placement& placed);
/// Of so many tasks together.
[[nodiscard]] Amounts sum_of(const WaitingTask& job, std::int64_t workers, std::int64_t ps);
/// Of all its tasks.
[[nodiscard]] inline Amounts whole_request(const WaitingTask& job) {
  return sum_of(job, job.workers, job.ps);
}
/// All its tasks on one node.
[[nodiscard]] Placement whole_on(std::size_t node, const WaitingTask& job);

/// Units: seconds.
struct QueueView {
  double now = 0;
  double starve_limit = 1800;
  double pause = 0;              ///< that a job loses which is parked and started again
  std::vector<QueueNode> nodes;  ///< idle: without what running jobs asked for
  std::vector<WaitingTask> jobs;
  std::vector<double> totals;  ///< that ended jobs took
  /// What each node would have idle if none of the jobs ran; none: its `cap`.
  std::vector<Amounts> most = {};
};

/// What is to be done, and what is known of each job afterwards.
struct QueuePlan {
  struct Start {
    std::string job;
    Placement placed;
    /// Nodes, at their places, whose room a starved job before it waits for; empty: none.
    std::vector<bool> barred = {};
  };
  struct Standing {
    std::string job;
    double weight = 0;
    bool is_starved = false;
  };
  std::vector<Start> starts;       ///< in this order
  std::vector<std::string> parks;  ///< their room is another job's
  /// Running jobs whose workers, beyond the least that they may have, are the first waiting job's:
  /// which gives first, first.
  std::vector<std::string> givers;
  std::vector<Standing> standings;  ///< running ones, then waiting ones in the order of the queue
  ctrl::policy::Rounds rounds;
};

struct QueuePolicyKind {
  std::string name;
  std::string summary;  ///< for the help: which job goes first
  Result<QueuePlan> (*decide)(const QueueView& view);
  bool keeps_order = false;  ///< where the first one waits others may have to wait with it
};

/// Some host of them could hold it if nothing else were there, or several together if it may
/// spread.
[[nodiscard]] bool could_ever_fit(const QueueView& view, const WaitingTask& job);

[[nodiscard]] const std::vector<QueuePolicyKind>& queue_policies();
/// Null where there is none of that name.
[[nodiscard]] const QueuePolicyKind* find_queue_policy(std::string_view name);

}  // namespace flowcon::cluster::policy
