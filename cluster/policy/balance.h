// SPDX-License-Identifier: Apache-2.0
// Ours between hosts: in place of SpeCon's Algorithms 4 and 5 by the work that is left (steer.h).
#pragma once

#include "cluster/policy/specon.h"
#include "cluster/policy/steer.h"

namespace flowcon::cluster::policy {

class Balance : public Specon {
 public:
  using Specon::Specon;

  /// Nobody asks to leave.
  std::vector<std::string> observe(const std::vector<Observed>& containers, double now,
                                   Rounds* rounds) override;
  [[nodiscard]] bool wants_to_leave(const std::string&) const override { return false; }
  Result<Plan> plan(const ClusterView& view, Rounds* rounds) override;
  [[nodiscard]] bool wants_changes() const override { return true; }
  [[nodiscard]] const char* objection(const JobReport& container) const override;
};

/// What steer is to decide: hosts and candidates as for Algorithm 5. What nobody knows the work of
/// counts as the median of all, and stays. A move costs the median of what hosts measured. Errors:
/// as in_order(), or a host has more than 1,000 containers; the sentence names it.
[[nodiscard]] Result<SteerState> steer_question(const ClusterView& view, std::uint32_t max_moves);

}  // namespace flowcon::cluster::policy
