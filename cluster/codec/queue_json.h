// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of the queue and of device sharing as JSON: what `flowcon-sim decide queue`
// and `decide share` read and print. Text and types only, no decision.
#pragma once

#include <boost/json/value.hpp>
#include <string_view>

#include "base/result.h"
#include "cluster/policy/queue.h"
#include "cluster/policy/share.h"

namespace flowcon::cluster::policy {

// How a state is written, for people.
inline constexpr std::string_view kQueueHelp =
    R"(State of queue (cap, idle, requests: amounts of any resources; since, starve_limit in seconds):
  {"now":100,"starve_limit":1800,
   "nodes":[{"id":"h1","cap":{"cpu":8,"mem":32},"idle":{"cpu":3,"mem":16}}],
   "waiting":[{"id":"a","since":40,"weight":0.9,"min":1,"max":4,"ps":1,
               "worker_request":{"cpu":2,"mem":4},"ps_request":{"cpu":1}}],
   "running":[{"id":"b","since":0,"weight":0.8,"min":1,"max":2,"ps":0,"worker_request":{"cpu":5},
               "ps_request":{},"placed":{"ps":{},"workers":{"h1":1}},"done":false}],
   "new":[]}
  new: jobs that come, without a weight; since may be missing, done too.
  Optional: "basis" ("worker", or "job": whose request the weight rests on), "prune" (workers leave
  only the host where a job starts), "repeat" (until nothing starts), "check_after",
  "starve_everywhere" (both true; false: as printed).
)";
inline constexpr std::string_view kShareHelp =
    R"(State of share (util in percent of a device, mem in any unit):
  {"devices":[{"id":"gpu0","mem":16,"util_used":30,"mem_used":4}],
   "tasks":[{"id":"a","util":40,"mem":6},{"id":"b","gpus":1}]}
  A task asks for a part of a device, or for whole ones that nobody uses.
)";

/// Reads {"now","starve_limit","nodes":[{"id","cap","idle"}],"waiting","running","new"}; a job is
/// {"id","since","min","max","ps","worker_request","ps_request"}, with "weight" where it waits or
/// runs, and "placed":{"ps","workers"} and the optional "done" where it runs. "since" of a new one
/// is optional. Options: "basis" ("worker" or "job"), "prune", "repeat", "check_after",
/// "starve_everywhere". An option that is null counts as absent; other fields are ignored.
/// Errors: a missing or ill-typed field, min below 1, max below min, an amount below 0 (but idle),
/// a count that is no whole number or above 10^9, a task on a node that is not listed, an id that
/// is there twice, more than 64 kinds of resources; the sentence names the field.
[[nodiscard]] Result<QueueState> queue_state_from(const boost::json::value& json);

/// Reads {"devices":[{"id","mem","util_used","mem_used"}],"tasks":[{"id","gpus"}]}, a task with
/// "util" and "mem" where it has no "gpus". Other fields are ignored. Errors: a missing or
/// ill-typed field, a number below 0, a number of GPUs that is not whole, the id of a device or of
/// a task that is there twice; the sentence names the field.
[[nodiscard]] Result<ShareState> share_state_from(const boost::json::value& json);

/// What the readers above read back as a state that gives the same decision.
[[nodiscard]] boost::json::value to_json(const QueueState& state);
[[nodiscard]] boost::json::value to_json(const ShareState& state);

/// {"branch":"top"|"rest"|null,"actions":[{"op",…}],"waiting":[{"id","weight"}],
/// "running":[{"id","weight","placed"}],"finished":[id],"nodes":[{"id","idle"}]}
[[nodiscard]] boost::json::value to_json(const QueueDecision& decision);

/// {"placed":{task:[device]},"unplaced":[task]}
[[nodiscard]] boost::json::value to_json(const ShareDecision& decision);

}  // namespace flowcon::cluster::policy
