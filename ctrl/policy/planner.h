// SPDX-License-Identifier: Apache-2.0
// What the milestone policy remembers of one host from decision to decision: the fair world,
// earlier runs, ranks. It makes the state that decide_milestone() decides from. Pure: time is
// handed in.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ctrl/growth/forecast.h"
#include "ctrl/growth/track.h"
#include "ctrl/model.h"
#include "ctrl/policy/fair.h"
#include "ctrl/policy/milestone.h"

namespace flowcon::ctrl::policy {

/// A job as the planner is shown it. `training` says what is the same training again: image and
/// command. Units: arrived in seconds on the clock of plan().
struct PlannedJob {
  std::string id;
  std::string training;
  double arrived = 0;
  Goal goal = Goal::min;
  const growth::Track* track = nullptr;
};

/// Numbers of the policy; the defaults are the product's.
struct PlannerParameters {
  double worth = 0.85;
  double step = 8;
  double floor = 0.02;
  double inertia = 0.15;
  double lateness = 0.1;  ///< a job may end so much later than it would have, share of its time
  double least = 0.5;     ///< work that is not told apart, in seconds of the whole host
};

class Planner {
 public:
  Planner(double cores, const PlannerParameters& parameters)
      : cores_(cores), parameters_(parameters), fair_(cores) {}

  /// Jobs that are not in `jobs` any more have left; see end().
  [[nodiscard]] MilestoneState plan(double now, const std::vector<PlannedJob>& jobs);
  /// The ranks and shares of a decision, for the next one.
  void take(const MilestoneDecision& decision);
  /// Before the plan() without it: it ended by itself. `is_complete`: with exit status 0.
  void end(const PlannedJob& job, double now, bool is_complete);
  /// A run of another time, from the store.
  void remember(const std::string& training, const growth::Remembered& run) {
    memory_.remember(training, run);
  }
  [[nodiscard]] growth::Forecast forecast(const PlannedJob& job) const;
  /// Its `left` alone, for much less. Units: CPU seconds.
  [[nodiscard]] double left(const PlannedJob& job) const;

 private:
  struct Kept {
    std::optional<std::size_t> rank;
    std::optional<double> share;
    growth::Chances chances;
    std::size_t turn = 0;  // the last plan that it was in
  };

  [[nodiscard]] growth::Forecast forecast(const PlannedJob& job, growth::Chances* kept) const;

  double cores_;
  PlannerParameters parameters_;
  FairWorld fair_;
  growth::RunMemory memory_;
  mutable std::map<std::string, Kept> kept_;  // a forecast keeps what it took long to find
  std::size_t turn_ = 0;
};

}  // namespace flowcon::ctrl::policy
