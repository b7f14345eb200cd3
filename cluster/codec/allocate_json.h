// SPDX-License-Identifier: Apache-2.0
// States and decisions of the elastic allocator as JSON: what `flowcon-sim decide allocate` reads
// and prints. Text and types only, no decision.
#pragma once

#include <boost/json/value.hpp>

#include "base/result.h"
#include "cluster/policy/allocate.h"

namespace flowcon::cluster::policy {

/// Reads {"allocator":"greedy","nodes","jobs":[{"id","nodes","train_time","n_min","n_max"}]} and
/// the optional "powers_of_two", "cascade", "repeat"; or
/// {"allocator":"milp","nodes","steps","minutes", "jobs":[{"id","left","n_min","n_max"}]} and the
/// optional "allow_zero", "pause", and of a job "now", "pause" and "speed":{"1":x,"2":x,…}. A null
/// option counts as absent; other fields are ignored. Errors: a missing or ill-typed field, another
/// allocator, an id that is there twice, more than 10,000 jobs; greedy: jobs have more nodes than
/// there are; milp: beyond the bounds of HorizonState, left not above 0, a job without a legal
/// number, a speed that is missing for one or below 0; the sentence names the field.
[[nodiscard]] Result<AllocateState> allocate_state_from(const boost::json::value& json);

/// What the reader reads back as a state that gives the same decision.
[[nodiscard]] boost::json::value to_json(const AllocateState& state);

/// Greedy: {"scenario","allocation":{id:n},"idle","log":[[op,id,n]]};
/// milp: {"objective","bound","plan":{id:[n…]},"first":{id:n},"waiting":[id]}.
[[nodiscard]] boost::json::value to_json(const AllocateDecision& decision);

}  // namespace flowcon::cluster::policy
