// SPDX-License-Identifier: Apache-2.0
// The best setting of flowcond for recorded runs: the current one and a grid of others, each
// simulated on the runs as they came and on draws from them.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ctrl/growth/growth.h"
#include "sim/replay.h"

namespace flowcon::sim {

/// The options to vary. Units: as those of flowcond.
struct TuneSetting {
  std::string policy = "flowcon";  ///< of ctrl::policy::host_policies()
  bool is_quota = false;
  double alpha = 0.03;
  double beta = 2;
  double interval = 20;
  double interval_max = 320;

  bool operator==(const TuneSetting&) const = default;
};

/// The current setting, and fixed options.
struct TuneBase {
  TuneSetting present;
  double observe = 5;  ///< seconds
  ctrl::growth::Parameters growth;
  bool floor_all = true;
};

/// The objective to minimise.
enum class Objective { mean, t90, makespan };

/// Percent against the current setting, negative is better: mean over the draws and standard error
/// (bootstrap).
struct Effect {
  double percent = 0;
  double error = 0;
};

/// More than twice its error away from 0.
[[nodiscard]] inline bool is_beyond_error(const Effect& effect) {
  return std::abs(effect.percent) > 2 * effect.error;
}

struct TuneRow {
  std::optional<TuneSetting> setting;  ///< empty: no control
  Effect mean;                         ///< mean JCT
  Effect t90;                          ///< mean time to 90 % of the improvement
  Effect makespan;
  Effect worst;  ///< the run that loses most

  [[nodiscard]] const Effect& of(Objective objective) const {
    return objective == Objective::mean ? mean : objective == Objective::t90 ? t90 : makespan;
  }
};

struct Tuning {
  /// Seconds under the current setting, with the runs as they came.
  double mean = 0;
  double t90 = 0;
  double makespan = 0;
  TuneRow free;                     ///< no control
  std::vector<TuneRow> others;      ///< the best first, at most kMostOthers
  std::optional<std::size_t> best;  ///< of `others`: better by more than the error
};

inline constexpr std::size_t kLeastRuns = 3;
inline constexpr std::size_t kMostRuns = 300;
inline constexpr std::size_t kMostOthers = 4;
/// The least gain worth a change. Percent.
inline constexpr double kLeastGain = 1;

/// `runs`: kLeastRuns to kMostRuns, in order of their start. `progress` gets the finished share,
/// 0..1. The same arguments give the same numbers, to the bit. Intervals and ticks are at least
/// 1/300 of the mean run, which bounds the time.
[[nodiscard]] Tuning tune(const std::vector<ReplayRun>& runs, double cores, const TuneBase& base,
                          Objective objective,
                          const std::function<void(double)>& progress = nullptr);

}  // namespace flowcon::sim
