// SPDX-License-Identifier: Apache-2.0
// A placement in a sentence about one task or one job. Pure.
#pragma once

#include <string>

#include "base/result.h"
#include "cluster/policy/place.h"
#include "ctrl/policy/explain.h"

namespace flowcon::cluster::policy {

/// "goes to gpu1: the least score of its job, -0.25, of the hosts with room".
/// Errors: the state has neither a task nor a job of that id.
[[nodiscard]] Result<std::string> explain(const PlaceState& state, const PlaceDecision& decision,
                                          const ctrl::policy::About& about);

}  // namespace flowcon::cluster::policy
