// SPDX-License-Identifier: Apache-2.0
// SpeCon between hosts: categories (Algorithm 3), where a converged container hurts least (4), and
// the load of all when everything has converged (5). Other policies take from it what they do not
// decide themselves.
#pragma once

#include "cluster/policy/cluster_policy.h"

namespace flowcon::cluster::policy {

class Specon : public ClusterPolicy {
 public:
  Specon(const ClusterOptions& options, Categories& categories)
      : options_(options), categories_(categories) {}

  void configure(const ClusterOptions& options) override { options_ = options; }
  std::vector<std::string> observe(const std::vector<Observed>& containers, double now,
                                   Rounds* rounds) override;
  [[nodiscard]] bool wants_to_leave(const std::string& id) const override;
  std::optional<Destination> choose(const SpeculateState& state, double now,
                                    Rounds* rounds) override;
  Result<Plan> plan(const ClusterView& view, Rounds* rounds) override;
  [[nodiscard]] const char* objection(const JobReport& container) const override;
  void land(CategoryState& state, const Cause& cause, double now) const override;

 protected:
  [[nodiscard]] const ClusterOptions& options() const { return options_; }

 private:
  ClusterOptions options_;
  Categories& categories_;
};

struct RebalanceQuestion {
  RebalanceState state;
  bool is_due = false;
};

/// What Algorithm 5 is to decide. Draining hosts give away what they have themselves and are none.
/// Containers that may not be moved, or are barred, count and are no candidates: they have no
/// timestamps. Errors: as in_order().
[[nodiscard]] Result<RebalanceQuestion> rebalance_question(const ClusterView& view, bool when_idle);

}  // namespace flowcon::cluster::policy
