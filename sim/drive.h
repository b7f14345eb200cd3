// SPDX-License-Identifier: Apache-2.0
// A policy of flowcond on a simulated host: the very object, shown what a daemon would see.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "ctrl/policy/host_policies.h"
#include "sim/policy.h"

namespace flowcon::sim {

/// What flowcond's configuration says beside the numbers; the defaults are the product's.
struct HostOptions {
  ctrl::growth::Parameters growth;
  bool floor_all = true;
  bool is_quota = false;  ///< shares are caps, as with limit-mode quota; else they are weights
};

/// FlowCon as published: growth from two values, no floor for growing jobs, limits are caps.
[[nodiscard]] HostOptions paper_options();

/// A host that knows what is left of its jobs.
class ForecastingHost : public HostPolicy {
 public:
  virtual ~ForecastingHost() = default;
  /// The work that is expected of a job here. Empty: not known. Units: CPU seconds.
  [[nodiscard]] virtual std::optional<double> left(const Known& job) const = 0;
};

/// On a host of `cores` that remembers earlier runs. `name` is one of
/// ctrl::policy::host_policies().
[[nodiscard]] std::unique_ptr<ForecastingHost> drive(std::string_view name, double cores,
                                                     const std::vector<EarlierRun>& memory,
                                                     const PolicyParameters& parameters,
                                                     const HostOptions& options = {});

}  // namespace flowcon::sim
