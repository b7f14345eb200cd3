// SPDX-License-Identifier: Apache-2.0
// Who of the queue runs, where, and with how many workers: the job with the least left first
// (ours). Pure functions: no clock, no I/O, no logging.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/policy/queue.h"

namespace flowcon::cluster::policy {

/// A job of the queue and what is known of its length.
/// Units: seconds; `left` and `served` as if it had `max` workers on one node.
struct LeftJob {
  QueueJob job;                ///< without weight and `done`; `placed` where it runs
  double waited = 0;           ///< without a task, in all
  double served = 0;           ///< so far
  std::optional<double> left;  ///< by its counter or earlier runs; empty: not known
};

/// What is decided from.
struct LeftState {
  static constexpr const char* kAlgorithm = "left";

  double starve_limit = 0;  ///< seconds; a job that has waited longer goes before the others
  double growth = 0.9;      ///< n workers do n^growth times the work of one
  double network = 2;       ///< a job whose workers are all remote takes 1 + network times as long
  double pause = 0;         ///< seconds that a running job stands still whose tasks change
  double gain = 3;          ///< a change is made where it wins so many times what it costs
  std::vector<QueueNode> nodes;
  std::vector<LeftJob> jobs;  ///< waiting and running ones
  std::vector<Amounts>
      soon;  ///< of nodes, at their places: what comes free within `pause`; or none
  std::vector<double> totals;  ///< seconds that ended jobs took, as with `max` workers on one node
};

/// What a decision does with a job.
enum class LeftChange {
  wait,    ///< it has no task and gets none
  start,   ///< it gets its first tasks
  keep,    ///< all its tasks stay where they are
  resize,  ///< workers come or go, the others stay
  move,    ///< it is saved and starts elsewhere
  park,    ///< it is saved and waits
};

/// "wait", "start", …
[[nodiscard]] const char* name(LeftChange change);

/// A job after the decision.
struct LeftPlace {
  std::string id;
  double left = 0;          ///< seconds, by which it was ordered
  bool is_guess = false;    ///< what is left cannot be estimated
  bool is_starved = false;  ///< it stays so until it ends
  LeftChange change = LeftChange::wait;
  Placement placed;  ///< all its tasks
};

struct LeftDecision {
  std::vector<LeftPlace> jobs;  ///< in the order in which they were served
  std::vector<IdleNode> nodes;  ///< what they leave
};

/// What is left of a job of which it cannot be estimated: what jobs take in the median (those that
/// ended and those of which it is known; without any, what the longest of the unknown has had) less
/// what it has had, but at least half of that.
[[nodiscard]] double guessed_left(double served, double median);

/// Job after job takes the place that ends it first, of what those before it leave: starved ones in
/// the order in which they came, then those with the least left. It has its whole minimum or
/// nothing, so that the last ones are parked for the first ones. What is idle then grows the job
/// whose end moves most per core.
/// Errors: counts so large that it would take too long; the sentence names the job.
/// O(jobs · nodes · (max − min)) at most. Source: ours, docs/decisions.md.
[[nodiscard]] Result<LeftDecision> decide_left(const LeftState& state);

}  // namespace flowcon::cluster::policy
