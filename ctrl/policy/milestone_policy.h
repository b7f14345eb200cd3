// SPDX-License-Identifier: Apache-2.0
// The milestone policy on one host: the job goes first that is nearest to a usable model or to its
// end (milestone.h). It remembers the processor-sharing baseline and the ranks; memory and block
// I/O stay with FlowCon.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ctrl/policy/explain.h"
#include "ctrl/policy/fair.h"
#include "ctrl/policy/flowcon.h"
#include "ctrl/policy/forecaster.h"
#include "ctrl/policy/milestone.h"

namespace flowcon::ctrl::policy {

/// "rank 1 of 3: 420 CPU s left (progress counter, weighs 100 %)…; due in 310 s; share 86 %".
/// Errors: the container is not in the state.
[[nodiscard]] Result<std::string> explain(const MilestoneState& state,
                                          const MilestoneDecision& decision, const About& about);

class MilestonePolicy : public Flowcon {
 public:
  /// The forecaster must outlive it.
  MilestonePolicy(const HostParameters& parameters, Forecaster& forecaster);

  HostDecision decide(const HostView& view, Rounds* rounds) override;
  [[nodiscard]] std::string reason(const std::string& id) const override;
  void end(const JobView& job, double now) override;

 private:
  struct Kept {
    std::optional<std::size_t> rank;
    std::optional<double> share;
    std::string reason;
    std::size_t turn = 0;  // the last decision that it was in
  };

  [[nodiscard]] MilestoneState plan(const HostView& view);
  void meet(const std::vector<JobView>& jobs);
  void keep(const MilestoneState& state, const MilestoneDecision& decision);
  void record(double now, const MilestoneState& state, const MilestoneDecision& decision,
              Rounds* rounds);

  Forecaster& forecaster_;
  FairWorld fair_;
  std::map<std::string, Kept> kept_;
  std::size_t turn_ = 0;
  // Units: seconds on the steady clock.
  double next_growth_ = 0;         // when growth is measured
  double next_telling_ = 0;        // when an order that stays is recorded
  std::size_t last_recorded_ = 0;  // how many were ranked then
};

}  // namespace flowcon::ctrl::policy
