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
  diverging,   ///< the latest value is NaN or infinite, or the metric clearly moves away from its
               ///< goal: progress is 0
};

/// Progress P of one interval.
/// Units: `rate` in normalised (or raw) metric units per second; empty iff verdict is unmeasured.
struct Progress {
  Verdict verdict = Verdict::unmeasured;
  std::optional<double> rate;
};

/// Magnitude by which values are divided. `first`: the magnitude of the first stable value (the
/// median of the first values, up to five, that are finite and not zero); `range`: largest minus
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
/// there is one; up to 32 before it make the noise known where the interval holds few.
/// `scale` is what scale_of() gave; 0 where it gave none. The rate is finite and not negative.
///
/// Estimator::paper (FlowCon eq. 4.1): |E(to) - E(from)| / (to - from), E the latest value at or
/// before a time; unmeasured without E(from). Directed, a change away from the goal counts as 0.
///
/// Estimator::robust (ours): the trend of the values in (from, to], together with E(from) at its
/// own time, as trend.h says: noise around a plateau is no growth. Unmeasured without a new value
/// or with one value in all. The rate is at most the range of the values over the time they took,
/// or over half of the interval if that is longer: what was written in one burst is not a rate.
/// Directed, a trend away from the goal counts as 0; it is diverging if it is beyond the noise and
/// more than 5 % of the metric's level.
[[nodiscard]] Progress progress_between(const std::vector<Sample>& samples, double from, double to,
                                        Goal goal, double scale, const Parameters& parameters);

/// Growth efficiency G = P / R per resource, finite. Empty where P is unknown or the use is not
/// above zero.
/// Units: progress per second per whole host. Source: FlowCon eq. 4.2.
using Efficiency = PerResource<std::optional<double>>;
[[nodiscard]] Efficiency efficiency(const Progress& progress, const Usage& use);

}  // namespace flowcon::ctrl::growth
