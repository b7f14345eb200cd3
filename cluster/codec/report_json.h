// SPDX-License-Identifier: Apache-2.0
// Reports between hosts about containers, as JSON: the category state that goes with a container,
// a host's report to the coordinator (GET /v1/peer/jobs), and what that one orders
// (POST /v1/peer/move). All of it comes from other machines.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/policy/categories.h"
#include "cluster/policy/cause.h"
#include "cluster/policy/report.h"

namespace flowcon::cluster::policy {

/// {"category":"CC","value":0.1,"growth":0.001,"seen_age":3.5,"converged_age":120,
/// "migrated_age":null,"rebalanced":false,"moves":0}: times as ages in seconds at `now`.
[[nodiscard]] boost::json::object to_json(const CategoryState& state, double now);
/// Reads that. Errors: a member is missing or ill-typed, an age is below 0 or above 100 years,
/// moves are not 0 to 1,000,000; the sentence names it.
[[nodiscard]] Result<CategoryState> category_state_from(const boost::json::object& json,
                                                        double now);

/// {"id","name","draining","moves","moves_here","cores","move_seconds","containers":[{"id","name",
/// "category","value","converged_age","migrated_age","rebalanced","movable","left","width","moves",
/// "beginning","queued","saves_itself"}]}
[[nodiscard]] std::string render_report(const HostReport& report);
/// Unknown members are ignored; without "moves_here" it is "moves", and the last two may be
/// missing. Errors: not JSON, another member that is missing or one out of its range, an id that is
/// there twice or no engine's, more than 10,000 containers; the sentence names it.
[[nodiscard]] Result<HostReport> parse_report(std::string_view text);

/// What the host that coordinates asks another one for: a container there is to go to a third.
struct OrderedMove {
  std::string container;  ///< its id
  std::string target;     ///< id of a host
  Cause cause;
  std::string state;  ///< what it was decided from, as ctrl::policy::Round::state; "" = not said
};

/// {"container","target","cause","state"}, without "state" where that is "".
[[nodiscard]] std::string render_order(const OrderedMove& order);
/// Reads that; whether the state makes sense is not checked. Errors: not JSON, another member
/// that is missing or ill-typed, a cause that is none of `causes`; the sentence names it.
[[nodiscard]] Result<OrderedMove> parse_order(std::string_view text,
                                              const std::vector<Cause>& causes);

}  // namespace flowcon::cluster::policy
