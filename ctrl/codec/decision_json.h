// SPDX-License-Identifier: Apache-2.0
// The decisions' inputs and outputs as JSON: what `flowcon-sim decide` reads and prints, and what
// the daemon stores so that a decision can be replayed. Text and types only, no decision.
#pragma once

#include <boost/json/value.hpp>
#include <string_view>

#include "base/result.h"
#include "ctrl/policy/executor.h"

namespace flowcon::ctrl::policy {

// How a state is written, for people.
inline constexpr std::string_view kExecutorHelp =
    R"(State of executor (alpha in units of growth, intervals in seconds, limits as share of the host):
  {"alpha":0.03,"beta":2,"interval":20,
   "containers":[{"id":"a","list":"WL","limit":0.5,"growth":0.01},
                 {"id":"b","list":"NL","limit":1,"growth":null}]}
  list: NL, WL or CL; growth null: not measured; limit null: none yet.
  Optional: "interval_max" (the back-off's bound), "floor_all" (the floor 1/(beta*n) for all lists).
)";
inline constexpr std::string_view kListenerHelp =
    R"(State of listener: the same and "initial_interval" and "active":["a","b"], the ids running now.
)";

/// Reads {"alpha","beta","interval","containers":[{"id","list","limit","growth"}]} and the optional
/// "interval_max" (null counts as absent) and "floor_all". Other fields are ignored.
/// Errors: a missing or ill-typed field, beta below 1, an interval that is not above 0, a list
/// other than NL, WL, CL, an id that is there twice; the sentence names the field, for example
/// "containers[3].growth: …".
[[nodiscard]] Result<ExecutorState> executor_state_from(const boost::json::value& json);

/// Reads the same and "initial_interval" and "active":[id…].
[[nodiscard]] Result<ListenerState> listener_state_from(const boost::json::value& json);

/// What executor_state_from() and listener_state_from() read back as the same state.
[[nodiscard]] boost::json::value to_json(const ExecutorState& state);
[[nodiscard]] boost::json::value to_json(const ListenerState& state);

/// {"interval","all_completing","containers":[{"id","list","limit"}]}
[[nodiscard]] boost::json::value to_json(const ExecutorDecision& decision);

/// {"arrived","departed","rerun","interval","containers":[{"id","list","limit"}]}; the limit of a
/// container that never had one is null.
[[nodiscard]] boost::json::value to_json(const ListenerDecision& decision);

}  // namespace flowcon::ctrl::policy
