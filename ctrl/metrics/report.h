// SPDX-License-Identifier: Apache-2.0
// What a job's output has said so far. Plain data.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

/// What an end that is told so weighs, against 1 for one beside the counter. Only that of a log was
/// measured on real logs, 82 % right against 91 %: docs/evaluation.md, Reading logs. The others are
/// taken to be right as often.
[[nodiscard]] constexpr double trust_in(TotalFrom from) {
  return from == TotalFrom::counter ? 1 : 0.9;
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

/// A series of values. The name alone does not tell it: those within an epoch and those of its end
/// have the same.
struct SeriesId {
  std::string metric;
  std::uint64_t number = 0;  ///< 0 = any of that name
};

/// What is known after the lines so far.
struct Report {
  std::string metric;        ///< "" = nothing found yet
  std::uint64_t series = 0;  ///< another number is another series, whatever its name
  Goal goal = Goal::min;
  std::string goal_guess;       ///< why, where the name does not say the goal; "" = it does
  double confidence = 0;        ///< 0..1; 1 when the user named the metric or gave a pattern
  std::string unsure_of;        ///< the choice that is withheld because confidence is below kSure
  std::vector<Sample> samples;  ///< of the metric, in order; the last `keep` ones when bounded
  std::vector<Sample> head;     ///< its first samples (up to eight), also when bounded
  std::size_t count = 0;        ///< values seen in all; copies count once, as far as is known now
  std::size_t printed = 0;      ///< values seen, copies included: only grows
  std::vector<std::size_t> places;  ///< of each sample among the printed ones
  double low = 0, high = 0;         ///< range of the finite values seen
  std::optional<Counter> counter;
  std::vector<Candidate> candidates;  ///< best first, the chosen one included
  std::string missing;  ///< "nothing named lss; seen: loss, acc", where nothing fits what was asked
  std::string warning;  ///< the log is written in a way that is not read; holds none of its text

  [[nodiscard]] SeriesId id() const { return {metric, series}; }
  [[nodiscard]] bool is_of(const SeriesId& known) const {
    return metric == known.metric && (known.number == 0 || series == known.number);
  }
  /// The first sample behind that many printed values; samples.size() = none.
  [[nodiscard]] std::size_t first_behind(std::size_t known) const {
    return static_cast<std::size_t>(std::lower_bound(places.begin(), places.end(), known) -
                                    places.begin());
  }
};

}  // namespace flowcon::ctrl::metrics
