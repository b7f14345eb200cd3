// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of the queue by what is left as JSON: what `flowcon-sim decide left` reads and
// prints. Text and types only, no decision.
#pragma once

#include <boost/json/value.hpp>
#include <string_view>

#include "base/result.h"
#include "cluster/policy/left_queue.h"

namespace flowcon::cluster::policy {

/// How a state is written, for people.
inline constexpr std::string_view kLeftHelp =
    R"(State of left (seconds; left, served as if with max workers on one node; waited: without a task):
  {"starve_limit":1800,
   "nodes":[{"id":"h1","cap":{"cpu":8,"mem":32},"idle":{"cpu":3,"mem":16}}],
   "jobs":[{"id":"a","since":40,"waited":60,"served":0,"left":900,"min":1,"max":4,"ps":1,
            "worker_request":{"cpu":2,"mem":4},"ps_request":{"cpu":1}},
           {"id":"b","since":0,"waited":0,"served":120,"min":1,"max":2,"ps":0,
            "worker_request":{"cpu":5},"ps_request":{},"placed":{"ps":{},"workers":{"h1":1}}}]}
  left missing: not known; placed missing: it waits.
  Optional: "totals":[seconds] (what ended jobs took), "growth" (0.9: n workers do n^0.9 times the
  work), "network" (2: a job with all workers remote takes 1+2 times as long), "pause" (0: seconds
  that a job stands still whose tasks change), "gain" (3: least win, as a multiple of its cost),
  "soon":{"h1":{"cpu":2}} (what comes free there within "pause": nobody is disturbed for that).
)";

/// Reads {"starve_limit","nodes":[{"id","cap","idle"}],"jobs"}; a job is {"id","since","waited",
/// "served","min","max","ps","worker_request","ps_request"}, with "left" where that is known and
/// "placed":{"ps","workers"} where it runs. Options: "growth", "network", "pause", "gain",
/// "totals":[seconds], "soon":{node:{resource:amount}}. What is optional may be null; other fields
/// are ignored. Errors: a missing or ill-typed field, times that are not from 0 to 10^12 s
/// (`since`: from −10^12), a growth that is not from 0 to 1, network or gain not from 0 to 10^6,
/// more than a million totals, and as of queue_state_from(); the sentence names the field.
[[nodiscard]] Result<LeftState> left_state_from(const boost::json::value& json);

/// What the reader above reads back as a state that gives the same decision.
[[nodiscard]] boost::json::value to_json(const LeftState& state);

/// {"jobs":[{"id","left","guessed","starved","change":"start"|…,"placed"}],
/// "nodes":[{"id","idle"}]}
[[nodiscard]] boost::json::value to_json(const LeftDecision& decision);

}  // namespace flowcon::cluster::policy
