// SPDX-License-Identifier: Apache-2.0
// The milestone policy on a simulated host: the same forecasts and the same ranking as in the
// daemon.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/policy.h"

namespace flowcon::sim {

class MilestoneHost : public HostPolicy {
 public:
  virtual ~MilestoneHost() = default;
  /// The work that is expected of a job here. Empty: not known. Units: CPU seconds.
  [[nodiscard]] virtual std::optional<double> left(const Known& job) const = 0;
};

/// On a host of `cores`. `is_quota`: shares are caps, as with limit-mode quota; else they are
/// weights.
[[nodiscard]] std::unique_ptr<MilestoneHost> make_milestone(double cores,
                                                            const std::vector<EarlierRun>& memory,
                                                            const PolicyParameters& parameters,
                                                            bool is_quota = false);

}  // namespace flowcon::sim
