// SPDX-License-Identifier: Apache-2.0
// What a job's output has said so far. Plain data.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "ctrl/model.h"

namespace flowcon::ctrl::metrics {

/// Samples of a series that are kept of a job that runs: what a robust trend needs of one interval,
/// and bounded.
inline constexpr std::size_t kKeptSamples = 512;

/// What says how far a counter goes.
enum class TotalFrom {
  counter,      ///< it stands beside it: "3/20"
  log,          ///< another line: "epochs=20"
  command,      ///< the container's command: --epochs 20
  environment,  ///< EPOCHS=20
  time_left     ///< "eta: 0:14:16": the counter is the time since the first line, in seconds
};

/// "counter", "log", "command", "environment", "time left".
[[nodiscard]] constexpr const char* name(TotalFrom from) {
  switch (from) {
    case TotalFrom::counter:
      return "counter";
    case TotalFrom::log:
      return "log";
    case TotalFrom::command:
      return "command";
    case TotalFrom::environment:
      return "environment";
    case TotalFrom::time_left:
      return "time left";
  }
  return "";
}

/// How far the job is by its own account ("epoch 3/20"). Units: the job's own; 0 <= done <= total.
struct Counter {
  double done = 0;
  double total = 0;   ///< 0 = not known: `done` is the epoch as printed, `within` the share of it
  double within = 0;  ///< 0..1
  TotalFrom from = TotalFrom::counter;
  double first_at = 0;  ///< time of its first line; 0 = not known
  double last_at = 0;   ///< of its last one
};

/// Below this confidence no job is ranked by a metric that was detected.
inline constexpr double kSure = 0.2;

struct Candidate {
  std::string metric;
  Goal goal = Goal::min;
  double score = 0;       ///< higher is better; only comparable within one log
  std::size_t count = 0;  ///< values seen
};

/// What is known after the lines so far.
struct Report {
  std::string metric;  ///< "" = nothing found yet
  Goal goal = Goal::min;
  std::string goal_guess;       ///< why, where the name does not say the goal; "" = it does
  double confidence = 0;        ///< 0..1; 1 when the user named the metric or gave a pattern
  std::string unsure_of;        ///< the choice that is withheld because confidence is below kSure
  std::vector<Sample> samples;  ///< of the metric, in order; the last `keep` ones when bounded
  std::vector<Sample> head;     ///< its first samples (up to eight), also when bounded
  std::size_t count = 0;        ///< values seen in all
  double low = 0, high = 0;     ///< range of the finite values seen
  std::optional<Counter> counter;
  std::vector<Candidate> candidates;  ///< best first, the chosen one included
  std::string missing;  ///< "nothing named lss; seen: loss, acc", where nothing fits what was asked
  std::string warning;  ///< the log is written in a way that is not read; holds none of its text
};

}  // namespace flowcon::ctrl::metrics
