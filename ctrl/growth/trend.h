// SPDX-License-Identifier: Apache-2.0
// The slope of a noisy series, and how sure it is. Pure arithmetic on at most a few hundred points.
#pragma once

#include <optional>
#include <vector>

#include "ctrl/model.h"

namespace flowcon::ctrl::growth {

/// A straight line through a series.
/// Units: slope in value per time, shrunk towards zero by what noise alone would show; level is the
/// median magnitude of the values.
struct Trend {
  double slope = 0;
  double level = 0;
  bool is_clear = false;  ///< more than five standard errors from zero
};

/// The trend of `points` (in order of time; time in units of the interval, finite values of
/// magnitude 1 at most). `before` are the points that precede
/// them; they tell the noise where `points` are few and have no part in the slope.
///
/// Slope: the median of the slopes between all pairs, each weighted by its time apart (Theil-Sen;
/// the weights keep lines that were written in one burst from counting as steep). More than 128
/// points are first put together to 128 by the median of neighbours.
/// Noise: the distance of each point from the line between its two neighbours, which a curve that
/// falls fast does not mistake for noise; s is their median, scaled to a standard deviation.
/// A slope b whose standard error is e = s/sqrt(sum (t-mean t)^2) is shrunk to b*max(0,
/// 1-(c*e/b)^2), c = kCertainty: a slope within the noise is 0, one far above it stays as it is,
/// and none jumps. With fewer than five points, before included, the noise is unknown and b stays
/// as it is. Empty: fewer than two points or no time between them.
[[nodiscard]] std::optional<Trend> trend_of(const std::vector<Sample>& points,
                                            const std::vector<Sample>& before);

}  // namespace flowcon::ctrl::growth
