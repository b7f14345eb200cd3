// SPDX-License-Identifier: Apache-2.0
// An estimate in a sentence about one job. Pure.
#pragma once

#include <string>

#include "base/result.h"
#include "ctrl/estimate/estimate.h"
#include "ctrl/policy/explain.h"

namespace flowcon::ctrl::estimate {

/// "mem 3e+09, at most 3.4e+09 (random forest of 240 runs); cpu 1.9, at most 2 (last 5 runs of the
/// same command)". Errors: the job is not in the state.
[[nodiscard]] Result<std::string> explain(const EstimateState& state,
                                          const EstimateDecision& decision,
                                          const policy::About& about);

}  // namespace flowcon::ctrl::estimate
