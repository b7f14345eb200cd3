// SPDX-License-Identifier: Apache-2.0
// FlowCon on a simulated host: the same growth, listener and executor as in the daemon, told what
// the daemon would be told.
#pragma once

#include <memory>

#include "ctrl/growth/growth.h"
#include "sim/policy.h"

namespace flowcon::sim {

/// What flowcond's configuration says beside the numbers; the defaults are the product's.
struct FlowconOptions {
  ctrl::growth::Parameters growth;
  bool floor_all = true;
  bool is_quota = false;  ///< limits are caps
};

/// FlowCon as flowcond does it.
[[nodiscard]] std::unique_ptr<HostPolicy> make_flowcon(const PolicyParameters& parameters,
                                                       const FlowconOptions& options);

/// As published: growth from two values, no floor for growing jobs, limits are caps.
[[nodiscard]] std::unique_ptr<HostPolicy> make_paper_flowcon(const PolicyParameters& parameters);

}  // namespace flowcon::sim
