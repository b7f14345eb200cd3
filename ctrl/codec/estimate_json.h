// SPDX-License-Identifier: Apache-2.0
// States and decisions of the estimate as JSON: what `flowcon-sim decide estimate` reads and
// prints. Text and types only, no decision.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ctrl/estimate/estimate.h"

namespace flowcon::ctrl::estimate {

/// How a state is written, for people.
inline constexpr std::string_view kEstimateHelp =
    R"(State of estimate (age in seconds; labels: what a run needed, above 0):
  {"quantile":0.9,"seed":1,
   "history":[{"family":"vae.py --epochs #","key":"vae.py --epochs 8","age":3600,
               "features":{"arg.epochs":8,"arg.optimizer":"adam"},
               "labels":{"seconds_train":310,"mem":2.1e9}}],
   "jobs":[{"id":"a","family":"vae.py --epochs #","key":"vae.py --epochs 9",
            "features":{"arg.epochs":9,"arg.optimizer":"adam"}}]}
  quantile: of the errors of the forest that upper covers; seed: of the forest.
)";

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
