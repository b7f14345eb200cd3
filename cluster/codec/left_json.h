// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of the queue by what is left as JSON: what `flowcon-sim decide left` reads and
// prints. Text and types only, no decision.
#pragma once

#include <boost/json/value.hpp>

#include "base/result.h"
#include "cluster/policy/left_queue.h"

namespace flowcon::cluster::policy {

/// Reads {"starve_limit","nodes":[{"id","cap","idle"}],"jobs"}; a job is {"id","since","waited",
/// "served","min","max","ps","worker_request","ps_request"}, with "left" where that is known and
/// "placed":{"ps","workers"} where it runs. Options: "growth", "network", "pause", "gain",
/// "totals":[seconds]. What is optional may be null; other fields are ignored.
/// Errors: a missing or ill-typed field, times that are not from 0 to 10^12 s (`since`: from
/// −10^12), a growth that is not from 0 to 1, network or gain not from 0 to 10^6, more than a
/// million totals, and as of queue_state_from(); the sentence names the field.
[[nodiscard]] Result<LeftState> left_state_from(const boost::json::value& json);

/// What the reader above reads back as a state that gives the same decision.
[[nodiscard]] boost::json::value to_json(const LeftState& state);

/// {"jobs":[{"id","left","guessed","starved","change":"start"|…,"placed"}],
/// "nodes":[{"id","idle"}]}
[[nodiscard]] boost::json::value to_json(const LeftDecision& decision);

}  // namespace flowcon::cluster::policy
