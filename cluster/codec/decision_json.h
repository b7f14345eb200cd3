// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of SpeCon and of what is ours beside it, as JSON: what `flowcon-sim decide`
// reads and prints, and what the daemon stores so that a decision can be replayed. Text and types
// only, no decision.
#pragma once

#include <boost/json/value.hpp>

#include "base/result.h"
#include "cluster/policy/categorise.h"
#include "cluster/policy/rebalance.h"
#include "cluster/policy/speculate.h"
#include "cluster/policy/steer.h"

namespace flowcon::cluster::policy {

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
