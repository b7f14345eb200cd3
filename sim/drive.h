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

/// Further options of flowcond's configuration; the defaults are the product's.
struct HostOptions {
  ctrl::growth::Parameters growth;
  bool floor_all = true;
  bool is_quota = false;  ///< shares are caps, as with limit-mode quota; else they are weights
};

/// FlowCon as published: growth from two values, no floor for growing jobs, limits are caps.
[[nodiscard]] HostOptions paper_options();

/// A host that can forecast the remaining work of its jobs.
class ForecastingHost : public HostPolicy {
 public:
  virtual ~ForecastingHost() = default;
  /// The expected remaining work of a job here. Empty: unknown. Units: CPU seconds.
  [[nodiscard]] virtual std::optional<double> left(const Known& job) const = 0;
};

/// On a host of `cores` that remembers earlier runs. `name` is one of
/// ctrl::policy::host_policies().
[[nodiscard]] std::unique_ptr<ForecastingHost> drive(std::string_view name, double cores,
                                                     const std::vector<EarlierRun>& memory,
                                                     const PolicyParameters& parameters,
                                                     const HostOptions& options = {});

}  // namespace flowcon::sim
