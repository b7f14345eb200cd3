// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of SpeCon and of what is ours beside it, as JSON: what `flowcon-sim decide`
// reads and prints, and what the daemon stores so that a decision can be replayed. Text and types
// only, no decision.
#pragma once

#include <boost/json/value.hpp>
#include <string_view>

#include "base/result.h"
#include "cluster/policy/categorise.h"
#include "cluster/policy/rebalance.h"
#include "cluster/policy/speculate.h"
#include "cluster/policy/steer.h"

namespace flowcon::cluster::policy {

// How a state is written, for people.
inline constexpr std::string_view kCategoriseHelp =
    R"(State of categorise, for the containers of one host (alpha and growth in units of value):
  {"alpha":0.01,
   "containers":[{"id":"a","category":"WC","value":0.25,"previous_value":0.254,
                  "previous_growth":0.006,"migrated":false}]}
  category: PC, WC or CC; null for a value or growth: not measured; migrated: keeps its category.
)";
inline constexpr std::string_view kSpeculateHelp =
    R"(State of speculate, for one request (pc, wc, cc: containers of each category; usage: share in use):
  {"weights":{"pc":2,"wc":1.5,"cc":1},"container":"a","source":"h1",
   "workers":[{"id":"h1","pc":2,"wc":1,"cc":1,"usage":0.9},
              {"id":"h2","pc":1,"wc":0,"cc":1,"usage":0.4}]}
  Weights: pc above wc above cc above 0. The source is one of the workers; its counts include the
  container.
)";
inline constexpr std::string_view kRebalanceHelp =
    R"(State of rebalance (times in seconds, all on one clock):
  {"now":1000,
   "workers":[{"id":"h1","containers":[{"id":"a","converged_at":900,"migrated_at":null,
                                        "rebalanced":false},
                                       {"id":"b","converged_at":null,"migrated_at":950,
                                        "rebalanced":false}]},
              {"id":"h2","containers":[]}]}
  null: never. A container without a time, or a rebalanced one, stays.
  Optional: "guard" (a source holds at least two more than the target), "rounding" ("floor", or
  "ceil": of containers per worker), "fill" (a target takes containers while it has room).
)";
inline constexpr std::string_view kSteerHelp =
    R"(State of balance (left: CPU seconds to the end; width, cores: in cores; move_seconds: how long a
migrating container stands still):
  {"move_seconds":5,"max_moves":2,"gain":3,
   "hosts":[{"id":"h1","cores":2,
             "containers":[{"id":"a","left":900,"width":2,"moves":0,"may_move":true},
                           {"id":"b","left":300,"width":1,"moves":2,"may_move":true}]},
            {"id":"h2","cores":2,"containers":[]}]}
  moves: its migrations so far, max_moves: their maximum; gain: least benefit of a migration, as a
  multiple of its cost. A container that may not migrate counts and stays.
)";

/// Reads {"alpha","containers":[{"id","category","value","previous_value","previous_growth",
/// "migrated"}]}. Other fields are ignored.
/// Errors: a missing or ill-typed field, a category other than PC, WC, CC, an id that is there
/// twice; the sentence names the field, for example "containers[3].value: …".
[[nodiscard]] Result<CategoriseState> categorise_state_from(const boost::json::value& json);

/// Reads {"weights":{"pc","wc","cc"},"container","source","workers":[{"id","pc","wc","cc",
/// "usage"}]} and the optional "draining" (null counts as absent). Other fields are ignored.
/// Errors: a missing or ill-typed field, a count that is no whole number of at least 0, weights
/// that are not pc > wc > cc > 0, a source that is not among the workers (so there is at least
/// one), an id that is there twice; the sentence names the field.
[[nodiscard]] Result<SpeculateState> speculate_state_from(const boost::json::value& json);

/// Reads {"now","workers":[{"id","containers":[{"id","converged_at","migrated_at","rebalanced"}]}]}
/// and the optional "guard", "rounding" ("floor" or "ceil") and "fill" (null counts as absent).
/// Other fields are ignored.
/// Errors: a missing or ill-typed field, no worker, another rounding, the id of a worker or of a
/// container (on whichever worker) that is there twice; the sentence names the field.
[[nodiscard]] Result<RebalanceState> rebalance_state_from(const boost::json::value& json);

/// Reads {"move_seconds","max_moves","gain","hosts":[{"id","cores","containers":[{"id","left",
/// "width","moves","may_move"}]}]}. Other fields are ignored.
/// Errors: a missing or ill-typed field, cores, left or width that are not above 0, a cost or gain
/// below 0, a count that is no whole number from 0 to 1,000,000, the id of a host or of a container
/// (on whichever host) that is there twice; the sentence names the field.
[[nodiscard]] Result<SteerState> steer_state_from(const boost::json::value& json);

/// What the readers above read back as a state that gives the same decision. Values, growths and
/// times that are not finite, which count as not measured, become null; usage must be finite.
[[nodiscard]] boost::json::value to_json(const CategoriseState& state);
[[nodiscard]] boost::json::value to_json(const SpeculateState& state);
[[nodiscard]] boost::json::value to_json(const RebalanceState& state);
[[nodiscard]] boost::json::value to_json(const SteerState& state);

/// {"containers":[{"id","category","growth"}],"requests":[id]}
[[nodiscard]] boost::json::value to_json(const CategoriseDecision& decision);

/// {"scores":{id:score},"candidates":[id],"target":id,"move":bool}; scores in the workers' order.
[[nodiscard]] boost::json::value to_json(const SpeculateDecision& decision);

/// {"balance_factor","branch":"idle"|"uneven","moves":[{"container","from","to"}]}
[[nodiscard]] boost::json::value to_json(const RebalanceDecision& decision);

/// {"moves":[{"container","from","to"}]}
[[nodiscard]] boost::json::value to_json(const SteerDecision& decision);

}  // namespace flowcon::cluster::policy
