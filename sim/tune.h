// SPDX-License-Identifier: Apache-2.0
// Which setting of flowcond would have served recorded runs best: the present one and a grid of
// others, each simulated on the runs as they came and on others drawn from them.
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

/// The options that are tried. Units: as those of flowcond.
struct TuneSetting {
  std::string policy = "flowcon";  ///< of ctrl::policy::host_policies()
  bool is_quota = false;
  double alpha = 0.03;
  double beta = 2;
  double interval = 20;
  double interval_max = 320;

  bool operator==(const TuneSetting&) const = default;
};

/// The setting that holds, and options that are left as they are.
struct TuneBase {
  TuneSetting present;
  double observe = 5;  ///< seconds
  ctrl::growth::Parameters growth;
  bool floor_all = true;
};

/// What is to become less.
enum class Objective { mean, t90, makespan };

/// Percent against the present setting, negative is better: a mean over what was drawn and the
/// standard error that runs as few as these give it (bootstrap).
struct Effect {
  double percent = 0;
  double error = 0;
};

/// More than twice its error away from nothing.
[[nodiscard]] inline bool is_beyond_error(const Effect& effect) {
  return std::abs(effect.percent) > 2 * effect.error;
}

struct TuneRow {
  std::optional<TuneSetting> setting;  ///< empty: no control
  Effect mean;                         ///< mean completion
  Effect t90;                          ///< mean time to 90 % of the improvement
  Effect makespan;
  Effect worst;  ///< the run that loses most

  [[nodiscard]] const Effect& of(Objective objective) const {
    return objective == Objective::mean ? mean : objective == Objective::t90 ? t90 : makespan;
  }
};

struct Tuning {
  /// Seconds under the present setting, with the runs as they came.
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
/// Less is not worth a change. Percent.
inline constexpr double kLeastGain = 1;

/// `runs`: kLeastRuns to kMostRuns, in order of their start. `progress` is told the share that is
/// done, 0..1. The same arguments give the same numbers, to the bit. Intervals and looks below
/// 1/300 of the mean run are not tried and not followed: that bounds the time.
[[nodiscard]] Tuning tune(const std::vector<ReplayRun>& runs, double cores, const TuneBase& base,
                          Objective objective,
                          const std::function<void(double)>& progress = nullptr);

}  // namespace flowcon::sim
