// SPDX-License-Identifier: Apache-2.0
// The history that `docker flowcon tune` replays: from flowcond's answers, or from a file that
// --save wrote. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/tune.h"

namespace flowcon::plugin {

struct TuneHistory {
  std::string host;
  double cores = 1;
  sim::TuneBase base;
  std::vector<sim::ReplayRun> runs;  ///< in order of their start
  /// Runs that cannot be replayed, by the reason: "have not ended" to how many.
  std::map<std::string, std::size_t> left_out;
};

/// Begins a history from GET /v1/status. Missing settings count as the defaults. Errors:
/// the number of cores is missing or is none.
[[nodiscard]] Result<TuneHistory> begin_tune_history(const boost::json::value& status);

/// Adds one of GET /v1/runs with its GET /v1/containers/NAME/history, or counts the reason against
/// it.
void add_tune_run(TuneHistory& history, const boost::json::value& run,
                  const boost::json::value& recorded);

/// Puts the runs in order and keeps the last sim::kMostRuns.
void finish_tune_history(TuneHistory& history);

/// What --save writes. parse_tune_history() makes the same history of it.
[[nodiscard]] std::string render_tune_history(const TuneHistory& history);

/// Errors: it is no such file; a member is missing, of another kind or out of range. The sentence
/// begins with `name`, the file's, and has the member's place: "runs[3].cores".
[[nodiscard]] Result<TuneHistory> parse_tune_history(std::string_view text,
                                                     const std::string& name);

}  // namespace flowcon::plugin
