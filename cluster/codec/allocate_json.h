// SPDX-License-Identifier: Apache-2.0
// States and decisions of the elastic allocator as JSON: what `flowcon-sim decide allocate` reads
// and prints. Text and types only, no decision.
#pragma once

#include <boost/json/value.hpp>
#include <string_view>

#include "base/result.h"
#include "cluster/policy/allocate.h"

namespace flowcon::cluster::policy {

/// How a state is written, for people.
inline constexpr std::string_view kAllocateHelp =
    R"(State of allocate (nodes 0: it queues, in order; train_time: since its start; left in node hours):
  {"allocator":"greedy","nodes":16,
   "jobs":[{"id":"a","nodes":8,"train_time":900,"n_min":1,"n_max":16},
           {"id":"b","nodes":0,"train_time":0,"n_min":1,"n_max":4}]}
  Optional: "powers_of_two" (true), "cascade" (true: with an empty queue running jobs get idle
  nodes), "repeat" (false: only one job is halved).
  {"allocator":"milp","nodes":16,"steps":5,"minutes":5,
   "jobs":[{"id":"a","left":2.5,"n_min":1,"n_max":16},{"id":"b","left":0.4,"n_min":1,"n_max":4}]}
  Optional: "allow_zero" (jobs may be parked), "pause" (seconds of a step that are lost where the
  number changes); of a job "now" (its nodes), "pause" (its own), "speed":{"1":1,"2":1.6,"4":2.56}.
)";

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
