// SPDX-License-Identifier: Apache-2.0
// A policy of flowcond on a simulated host: the same object, with a daemon's view.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "ctrl/policy/host_policies.h"
#include "sim/policy.h"

namespace flowcon::sim {

/// A host that can forecast the remaining work of its jobs.
class ForecastingHost : public HostDriver {
 public:
  virtual ~ForecastingHost() = default;
  /// The expected remaining work of a job here. Empty: unknown. Units: CPU seconds.
  [[nodiscard]] virtual std::optional<double> left(const Known& job) const = 0;
};

/// On a host of `cores` that remembers earlier runs. `name` is one of
/// ctrl::policy::host_policies().
[[nodiscard]] std::unique_ptr<ForecastingHost> drive(std::string_view name, double cores,
                                                     const std::vector<EarlierRun>& memory,
                                                     const PolicyParameters& parameters);

}  // namespace flowcon::sim
