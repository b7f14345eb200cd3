// SPDX-License-Identifier: Apache-2.0
// Policies that know the truth: how much work each job has left. No daemon can do what they do;
// they show how much there is to win.
#pragma once

#include <memory>

#include "sim/policy.h"

namespace flowcon::sim {

/// The job with the least work left first.
[[nodiscard]] std::unique_ptr<HostPolicy> make_srpt(const Schedule& schedule);

/// The job first that is nearest, per worth, to a milestone: 90 % of its improvement is worth as
/// much as its end.
[[nodiscard]] std::unique_ptr<HostPolicy> make_milestone_oracle(const Schedule& schedule);

}  // namespace flowcon::sim
