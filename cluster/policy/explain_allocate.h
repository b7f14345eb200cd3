// SPDX-License-Identifier: Apache-2.0
// A recorded decision of the elastic allocator: in a sentence about one job, and what it changed.
// Pure.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/policy/allocate.h"
#include "ctrl/policy/changes.h"
#include "ctrl/policy/explain.h"

namespace flowcon::cluster::policy {

/// "8 nodes, then 4, 4: serves 62 % of the 3 node hours that are left". Errors: the job is not in
/// the state.
[[nodiscard]] Result<std::string> explain(const AllocateState& state,
                                          const AllocateDecision& decision,
                                          const ctrl::policy::About& about);

/// Jobs with another number of nodes than before, as far as that is known: "4 nodes" to "8 nodes".
[[nodiscard]] std::vector<ctrl::policy::PlaceChange> allocate_changes(
    const boost::json::value& state, const boost::json::value& decision);

}  // namespace flowcon::cluster::policy
