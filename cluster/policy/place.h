// SPDX-License-Identifier: Apache-2.0
// Which nodes the tasks of jobs go to: Liquid's best-fit, the same from each node (seeded), and its
// grouping genetic algorithm for all jobs at once. Pure functions: no clock, no I/O, no logging.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/policy/room.h"

namespace flowcon::cluster::policy {

struct PlaceNode {
  std::string id;
  std::string rack;  ///< of that domain
  std::string domain;
  Amounts cap;
  Amounts used;
};

enum class TaskRole { ps, worker };

/// "ps", "worker".
[[nodiscard]] constexpr const char* name(TaskRole role) {
  return role == TaskRole::ps ? "ps" : "worker";
}

struct PlaceTask {
  std::string id;
  std::string job;
  TaskRole role = TaskRole::worker;
  Amounts request;
};

/// What a link between two nodes was measured to carry, either way.
struct PlaceLink {
  std::string a;
  std::string b;
  double bytes_per_s = 0;  ///< above 0
};

/// Bytes a second that one pair of a job's parameter servers and workers sends.
struct JobTraffic {
  std::string job;
  double bytes_per_s = 0;
};

/// One job after the other, or all at once.
enum class PlaceMode { immediate, batch };

/// "immediate", "batch".
[[nodiscard]] constexpr const char* name(PlaceMode mode) {
  return mode == PlaceMode::immediate ? "immediate" : "batch";
}

struct PlaceState {
  static constexpr const char* kAlgorithm = "place";

  PlaceMode mode = PlaceMode::immediate;
  double lambda = 0.5;          ///< weight of the network against that of full GPUs, 0 to 1
  bool remove_used = false;     ///< immediate: as printed, a node gets one task of a job
  bool seeded = false;          ///< immediate: ours, tries each node for the first task of a job
  bool hub = false;             ///< ours: in a job without ps the first task counts as one
  std::uint64_t seed = 1;       ///< batch
  std::int64_t plans = 20'000;  ///< batch: ours, fewer take less time
  std::vector<PlaceNode> nodes;
  std::vector<PlaceTask> tasks;
  std::vector<PlaceLink> links;     ///< by the nodes' ids; none: the cost goes by racks
  std::vector<JobTraffic> traffic;  ///< counts with links; of a job without it 0
};

struct TaskPlace {
  std::string task;
  std::string node;
};

struct PlaceStep {
  TaskPlace place;
  double score = 0;  ///< of the job so far, with this task
};

struct PlaceDecision {
  PlaceMode mode = PlaceMode::immediate;
  std::vector<TaskPlace> placement;   ///< in the order of the tasks
  std::vector<std::string> unplaced;  ///< jobs, in the order of their first tasks
  std::vector<PlaceStep> trace;       ///< immediate: of the placed jobs, in order
  double score = 0;                   ///< batch: of all jobs
  double fitness = 0;                 ///< batch: -score - nodes with a task
};

/// Each job as a whole or not at all, in one domain; no node holds more than it has. The score of a
/// job is λ · cost + (1 − λ) · fitness, the less the better. Cost: over its pairs of parameter
/// server and worker, 0 on one node, the nodes of the rack within it, else the nodes of the domain;
/// with links (ours) traffic / bytes_per_s, the share of time that a pair waits for its wire. A
/// pair without a link has the slowest one of its rack, where there is none the slowest of all.
/// Fitness: over its nodes, −(GPUs in use with it there) / GPUs.
/// Immediate: job after job, task after task to the node of the least score; O(tasks · nodes),
/// where `seeded` times nodes. Batch: the best of `plans` plans of all jobs, exact where there are
/// no more; jobs for which there is no plan are left out from the end. Errors: so many tasks and
/// nodes that it would take too long. Source: Liquid, Algorithm 1 and Fig. 7 to 9, equations 2
/// to 8.
[[nodiscard]] Result<PlaceDecision> decide_place(const PlaceState& state);

}  // namespace flowcon::cluster::policy
