// SPDX-License-Identifier: Apache-2.0
// Nodes for jobs by the greedy rule of the elastic allocator (ALGORITHMS.md §11): idle nodes go to
// the queue, then to the jobs that have run shortest; without any, the job that has run longest
// gives half of its own to the first of the queue. A pure function: no clock, no I/O, no logging.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace flowcon::cluster::policy {

struct GreedyJob {
  std::string id;
  std::int64_t nodes = 0;  ///< that it has; 0: it queues
  double train_time = 0;   ///< since its start, in any unit
  std::int64_t n_min = 1;
  std::int64_t n_max = 1;
};

struct GreedyState {
  static constexpr std::size_t kMostJobs = 10'000;

  std::int64_t nodes = 0;  ///< at least those that the jobs have
  bool powers_of_two = true;
  bool cascade = true;          ///< once the queue is empty, idle nodes go to those that run
  bool repeat = false;          ///< halve as often as it works, not once
  std::vector<GreedyJob> jobs;  ///< those that queue in order of the queue
};

enum class GreedyStep { start, up, down };

[[nodiscard]] constexpr const char* name(GreedyStep step) {
  return step == GreedyStep::start ? "start" : step == GreedyStep::up ? "up" : "down";
}

struct GreedyEntry {
  GreedyStep step = GreedyStep::start;
  std::size_t job = 0;     ///< its place in the state
  std::int64_t nodes = 0;  ///< that it has then
};

struct GreedyDecision {
  int scenario = 4;  ///< 1: idle nodes and a queue, 2: idle nodes, 3: a queue, 4: neither
  std::vector<std::string> ids;
  std::vector<std::int64_t> nodes;  ///< of each
  std::int64_t idle = 0;
  std::vector<GreedyEntry> log;  ///< in the order of the steps
};

/// O(jobs * log jobs); with `repeat`, O(jobs * queue).
[[nodiscard]] GreedyDecision decide_greedy(const GreedyState& state);

}  // namespace flowcon::cluster::policy
