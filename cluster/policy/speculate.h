// SPDX-License-Identifier: Apache-2.0
// Where a converged container hurts least: SpeCon's choice of a host (Algorithm 4). Pure functions:
// no clock, no I/O, no logging. The daemon, flowcon-sim and the simulator call these very ones.
#pragma once

#include <string>
#include <vector>

#include "cluster/policy/category.h"

namespace flowcon::cluster::policy {

/// What a container of each category weighs in a host's score: pc > wc > cc > 0.
struct Weights {
  double pc = 2;
  double wc = 1.5;
  double cc = 1;
};

/// One host. Units: usage is R(w,t), the share (0..1) of the host that is in use; one that is not a
/// number counts as the highest.
struct Worker {
  std::string id;
  Counts counts;  ///< with the container in question, on its own host
  double usage = 0;
};

/// pc*w_pc + wc*w_wc + cc*w_cc: what the host's containers weigh together; no unit.
/// Source: SpeCon, Algorithm 4.
[[nodiscard]] double score_of(const Counts& counts, const Weights& weights);

/// What Algorithm 4 decides from: who asks, where it runs (one of the workers), and every host that
/// may take it.
struct SpeculateState {
  static constexpr const char* kAlgorithm = "speculate";

  Weights weights;
  std::string container;
  std::string source;
  std::vector<Worker> workers;
  /// Ours: the source gives away all that it has, so that it is no candidate itself.
  bool draining = false;
};

struct WorkerScore {
  std::string id;
  double score = 0;
};

struct SpeculateDecision {
  std::vector<WorkerScore> scores;      ///< in the order of the workers
  std::vector<std::string> candidates;  ///< the workers with the least score, in their order
  std::string target;                   ///< the source where it stays
  /// False: it stays, and has all the same had its one migration.
  bool move = false;
};

/// Algorithm 4 for one request: the source if it is among the workers with the least score,
/// otherwise the one of them with the least usage, first listed on a tie. A source that is not
/// among the workers keeps its container, and one that drains where there is no other. O(hosts).
/// Source: SpeCon, Algorithm 4.
[[nodiscard]] SpeculateDecision decide_speculate(const SpeculateState& state);

}  // namespace flowcon::cluster::policy
