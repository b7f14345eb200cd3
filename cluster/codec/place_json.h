// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of the placement as JSON: what `flowcon-sim decide place` reads and prints.
// Text and types only, no decision.
#pragma once

#include <boost/json/value.hpp>
#include <string_view>

#include "base/result.h"
#include "cluster/policy/place.h"

namespace flowcon::cluster::policy {

/// How a state is written, for people.
inline constexpr std::string_view kPlaceHelp =
    R"(State of place (cap, used, req: amounts of any resources, gpu for the score; lambda: the network's
weight against that of full GPUs, 0 to 1):
  {"mode":"immediate","lambda":0.5,
   "nodes":[{"id":"h1","rack":"r1","domain":"d1","cap":{"cpu":8,"gpu":2},"used":{"gpu":1}},
            {"id":"h2","rack":"r1","domain":"d1","cap":{"cpu":8,"gpu":2},"used":{}}],
   "tasks":[{"id":"a0","job":"a","role":"ps","req":{"cpu":1}},
            {"id":"a1","job":"a","role":"worker","req":{"cpu":2,"gpu":1}}]}
  mode: immediate (job after job, best-fit), or batch (all jobs at once, genetic; "seed",
  "plans" to try, at most 20000).
  Optional: "lambda" (0.5); "hub" (in a job without ps the first worker counts as one); of immediate
  "seeded" (each node is tried for a job's first task), "remove_used" (one task of a job a node: as
  printed). With
  "links":[{"a":"h1","b":"h2","bytes_per_s":1e8}], "traffic":{"a":2e7} (bytes a second of one pair)
  the cost is traffic/bytes_per_s; rack and domain may be missing.
)";

/// Reads {"mode":"immediate"|"batch","nodes":[{"id","rack","domain","cap","used"}],
/// "tasks":[{"id","job","role":"ps"|"worker","req"}]}. Options: "lambda", "remove_used", "seeded",
/// "hub", "seed", "plans", "links":[{"a","b","bytes_per_s"}], and with links "traffic":{job:bytes a
/// second of one pair}; one that is null, or no link, counts as absent. With links "rack" and
/// "domain" may be missing. Other fields are ignored. Errors: a missing or ill-typed field, a
/// lambda that is not from 0 to 1, an amount below 0, the id of a node or of a task that is there
/// twice, more than 64 kinds of resources, more than 10,000 nodes or tasks, more than 100,000
/// links, one that is there twice (either way), leads to no node or to its own, bytes_per_s not
/// from 0.001 to 10^15, traffic of no job or not from 0 to 10^15; the sentence names the field.
[[nodiscard]] Result<PlaceState> place_state_from(const boost::json::value& json);

/// What the reader above reads back as a state that gives the same decision.
[[nodiscard]] boost::json::value to_json(const PlaceState& state);

/// {"placement":{task:node},"unplaced":[job],"trace":[[task,node,score]]}; of a batch "score" and
/// "fitness" instead of the trace.
[[nodiscard]] boost::json::value to_json(const PlaceDecision& decision);

}  // namespace flowcon::cluster::policy
