// SPDX-License-Identifier: Apache-2.0
// Policies that know the true remaining work of each job. No daemon can know it; they show the
// possible gain.
#pragma once

#include <memory>

#include "sim/policy.h"

namespace flowcon::sim {

/// Shortest remaining work first.
[[nodiscard]] std::unique_ptr<HostDriver> make_srpt(const Schedule& schedule);

/// The job first that is nearest, per worth, to a milestone: 90 % of its improvement is worth as
/// much as its end.
[[nodiscard]] std::unique_ptr<HostDriver> make_milestone_oracle(const Schedule& schedule);

}  // namespace flowcon::sim
