// SPDX-License-Identifier: Apache-2.0
// How well runs are estimated that were held out: by the product, and by simpler means beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ctrl/estimate/estimate.h"

namespace flowcon::sim::estimate {

/// One way to estimate.
struct Score {
  double r2 = 0;     ///< of logarithms: 1 less the squared errors by those of the mean
  double error = 0;  ///< median of |expected / actual − 1|
};

struct Scores {
  Score forest;            ///< the product's own, ctrl/estimate
  double above = 0;        ///< share of the actual values above the forest's `upper`
  double upper_ratio = 0;  ///< median of upper / actual
  Score neighbours;        ///< mean of the logarithms of the five nearest runs
  Score median;            ///< of the runs of the same family; of all where there is none
  Score last;              ///< the last of those
};

constexpr std::size_t kHeldOut = 50;

/// Of rows with one label each, kHeldOut drawn at random are estimated from `history` others; there
/// must be as many. A smaller age is later.
[[nodiscard]] Scores score(const std::vector<ctrl::estimate::Profile>& rows, std::size_t history,
                           std::uint64_t seed);

/// The mean of each figure.
[[nodiscard]] Scores mean_of(const std::vector<Scores>& scores);

}  // namespace flowcon::sim::estimate
