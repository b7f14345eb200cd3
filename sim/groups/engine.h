// SPDX-License-Identifier: Apache-2.0
// The simulation of groups of tasks: time goes from event to event, between two of them rates are
// constant. Deterministic: the same input gives the same numbers, to the bit.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sim/groups/policy.h"
#include "sim/groups/world.h"

namespace flowcon::sim::groups {

struct GroupParameters {
  double pause = 0;  ///< seconds that a job stands still whose tasks change after it has worked
};

/// The outcome of one run. Units: seconds.
struct GroupResult {
  std::vector<std::optional<double>> finished;  ///< of each job; empty: it is stuck
  double end = 0;                               ///< when the last one ended
  double mean_completion = 0;                   ///< from arrival to end, of those that ended
  double cpu_use = 0;       ///< cores of jobs that work, of all cores, until the end
  std::size_t stuck = 0;    ///< jobs that never end
  std::size_t resizes = 0;  ///< changes of a job that has worked
  std::size_t refused = 0;  ///< plans that exceeded a node or split a gang: not carried out
};

/// The state after a decision, for tests.
struct GroupMoment {
  double now = 0;
  std::vector<PlaceNode> nodes;
  std::vector<Placement> placed;  ///< of all jobs
  std::vector<double> left;       ///< work
  std::vector<double> rates;      ///< until the next event
};
using Watcher = std::function<void(const GroupMoment&)>;

/// Runs a schedule until nothing can happen any more.
[[nodiscard]] GroupResult run(const GroupSchedule& schedule, const GroupPolicyKind& kind,
                              const GroupParameters& parameters, const Watcher& watcher = nullptr);

}  // namespace flowcon::sim::groups
