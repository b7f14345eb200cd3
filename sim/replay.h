// SPDX-License-Identifier: Apache-2.0
// Recorded runs as jobs that can be replayed: the properties of a job, apart from the CPU it got.
// Linear time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ctrl/model.h"
#include "sim/job.h"

namespace flowcon::sim {

/// One sample. Units: seconds since the epoch; share of the host since the last sample.
struct RecordedUse {
  double time = 0;
  double cpu = 0;
};

/// A recorded run. Rows in order of time.
struct RecordedRun {
  double started = 0;
  std::optional<double> finished;
  bool has_moved = false;  ///< it was on other hosts, too
  ctrl::Goal goal = ctrl::Goal::min;
  std::vector<ctrl::Sample> samples;
  std::vector<RecordedUse> usage;
};

/// A run to replay. `points`: the values over the share of `work` at which they came, in order,
/// finite, at least two and at most kMostPoints.
struct ReplayRun {
  static constexpr std::size_t kMostPoints = 400;
  static constexpr std::uint32_t kLeastValues = 8;
  static constexpr double kLeastCores = 0.01;
  static constexpr double kMostValue = 1e300;  ///< differences of values stay finite

  std::string name;
  std::string training;  ///< equal means "the same training again"
  double started = 0;    ///< seconds since the epoch
  double seconds = 0;    ///< its runtime
  double work = 0;       ///< CPU seconds
  double cores = 1;      ///< the most it used
  std::uint32_t values = 0;
  bool has_counter = false;
  ctrl::Goal goal = ctrl::Goal::min;
  std::vector<CurvePoint> points;
};

/// Why a run cannot be replayed.
enum class Unfit { is_running, has_moved, has_few_values, has_gaps, used_nothing };

struct Reading {
  ReplayRun run;  ///< without names and counter
  std::optional<Unfit> unfit;
};

/// `cores`: of the host. A gap in the records may last two minutes or a tenth of the run,
/// whichever is longer.
[[nodiscard]] Reading read_recorded(const RecordedRun& recorded, double cores);

/// The runs on one host of `cores`, as they came; with a `seed` above 0 each is replaced by one
/// drawn from all of them (Efron's bootstrap).
[[nodiscard]] Schedule replay_schedule(const std::vector<ReplayRun>& runs, double cores,
                                       std::uint64_t seed);

}  // namespace flowcon::sim
