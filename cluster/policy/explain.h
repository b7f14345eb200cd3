// SPDX-License-Identifier: Apache-2.0
// A recorded round of Algorithm 3, 4 or 5, or of balance, in a sentence about one container. Pure.
#pragma once

#include <string>

#include "base/result.h"
#include "cluster/policy/categorise.h"
#include "cluster/policy/rebalance.h"
#include "cluster/policy/speculate.h"
#include "cluster/policy/steer.h"
#include "ctrl/policy/explain.h"

namespace flowcon::cluster::policy {

using ctrl::policy::About;

// Each takes a state and what was decided from it. Errors: the container is not in the state.

/// "watching, was progressing: its value changed by 0.004, alpha is 0.01".
[[nodiscard]] Result<std::string> explain(const CategoriseState& state,
                                          const CategoriseDecision& decision, const About& about);
[[nodiscard]] Result<std::string> explain(const SpeculateState& state,
                                          const SpeculateDecision& decision, const About& about);
[[nodiscard]] Result<std::string> explain(const RebalanceState& state,
                                          const RebalanceDecision& decision, const About& about);
[[nodiscard]] Result<std::string> explain(const SteerState& state, const SteerDecision& decision,
                                          const About& about);

}  // namespace flowcon::cluster::policy
