// SPDX-License-Identifier: Apache-2.0
// Progress and growth efficiency (FlowCon eq. 4.1 and 4.2), as published and as ours: robust,
// normalised, directed. Pure functions of the samples.
#pragma once

#include <optional>
#include <vector>

#include "ctrl/model.h"

namespace flowcon::ctrl::growth {

enum class Estimator { paper, robust };
enum class Normalise { none, first, range };

/// How progress is computed. The defaults are the product's.
struct Parameters {
  Estimator estimator = Estimator::robust;
  Normalise normalise = Normalise::first;
  bool directed = true;  ///< only a change in the direction of the goal is progress
};

/// Why there is or is not a progress.
enum class Verdict {
  measured,    ///< progress is known
  unmeasured,  ///< fewer than two values, or no time between them
  diverging,   ///< the metric moves away from its goal, or is NaN or infinite: progress is 0
};

/// Progress P of one interval.
/// Units: `rate` in normalised (or raw) metric units per second; empty iff verdict is unmeasured.
struct Progress {
  Verdict verdict = Verdict::unmeasured;
  std::optional<double> rate;
};

/// Magnitude by which values are divided. `first`: the magnitude of the first stable value (the
/// median of the first finite values, up to five, seen in the job's life); `range`: largest minus
/// smallest finite value; `none`: 1. Empty while unknown or zero.
/// `head` holds the job's first samples, `low`/`high` the range of the finite values seen so far.
struct Scale {
  std::vector<Sample> head;
  double low = 0;
  double high = 0;
};
[[nodiscard]] std::optional<double> scale_of(const Scale& seen, Normalise how);

/// Progress between `from` and `to` (seconds since the epoch).
/// `samples` are in order of time and include at least the last one at or before `from` where
/// there is one. `scale` is what scale_of() gave.
/// Source: FlowCon eq. 4.1 for Estimator::paper; the robust trend (Theil-Sen over the interval's
/// samples) is ours.
[[nodiscard]] Progress progress_between(const std::vector<Sample>& samples, double from, double to,
                                        Goal goal, double scale, const Parameters& parameters);

/// Growth efficiency G = P / R per resource. Empty where P or the use is unknown or zero.
/// Units: progress per second per whole host. Source: FlowCon eq. 4.2.
struct Efficiency {
  std::optional<double> cpu;
  std::optional<double> memory;
  std::optional<double> blkio;
  std::optional<double> netio;
};
[[nodiscard]] Efficiency efficiency(const Progress& progress, const Usage& use);

}  // namespace flowcon::ctrl::growth
