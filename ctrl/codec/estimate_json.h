// SPDX-License-Identifier: Apache-2.0
// States and decisions of the estimate as JSON: what `flowcon-sim decide estimate` reads and
// prints. Text and types only, no decision.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ctrl/estimate/estimate.h"

namespace flowcon::ctrl::estimate {

/// Reads {"quantile","seed","history":[{"family","key","age","features":{name:number|string},
/// "labels":{name:number}}],"jobs":[{"id","family","key","features"}]}. Other fields are ignored.
/// Errors: a missing or ill-typed field, a quantile that is not from 0 to 1, a label that is not
/// above 0, more than 64 features or labels of a run, more than 64 labels, 20,000 runs or 10,000
/// jobs in all, the id of a job that is there twice; the sentence names the field.
[[nodiscard]] Result<EstimateState> estimate_state_from(const boost::json::value& json);

/// What the reader above reads back as a state that gives the same decision.
[[nodiscard]] boost::json::value to_json(const EstimateState& state);

/// One of the state's runs. Errors: as of estimate_state_from().
[[nodiscard]] Result<Profile> profile_from(const boost::json::value& json);
[[nodiscard]] boost::json::value to_json(const Profile& profile);

/// {name:number|string} and {name:number}, of a run.
[[nodiscard]] boost::json::value to_json(const Features& features);
[[nodiscard]] boost::json::value to_json(const std::vector<std::pair<std::string, double>>& labels);

/// {label:{"expected","upper","basis","rows"}}
[[nodiscard]] boost::json::value to_json(const std::vector<LabelEstimate>& labels);

/// {"jobs":[{"id","labels"}]}
[[nodiscard]] boost::json::value to_json(const EstimateDecision& decision);

}  // namespace flowcon::ctrl::estimate
