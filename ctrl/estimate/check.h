// SPDX-License-Identifier: Apache-2.0
// How good estimates would have been: each run estimated from those before it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ctrl/estimate/estimate.h"

namespace flowcon::ctrl::estimate {

/// Is it worth to learn anew from `rows`, of which `fresh` were not learnt from? From a twentieth
/// of them on.
[[nodiscard]] constexpr bool is_worth_training(std::size_t fresh, std::size_t rows) {
  return fresh > 0 && fresh * 20 >= rows;
}

/// Of the runs whose label was estimated.
struct LabelCheck {
  std::string label;
  std::size_t runs = 0;
  std::optional<double> r2;  ///< of logarithms; none where all runs needed the same
  double above = 0;          ///< share of them that needed more than `upper`
};

struct EstimateCheck {
  std::size_t runs = 0;            ///< that were compared
  std::vector<LabelCheck> labels;  ///< of those with an estimate, in the order of their appearance
};

/// Estimates each run of the history, which is in order of their ends, from the 21st on, by what an
/// Estimator had learnt that was trained whenever is_worth_training(): so never by itself or what
/// ended later. Newest first; once `goes_on` is false, at least one training has been judged and
/// older runs are left out.
[[nodiscard]] EstimateCheck check_estimates(const std::vector<Profile>& history, double quantile,
                                            std::uint64_t seed,
                                            const std::function<bool()>& goes_on);

}  // namespace flowcon::ctrl::estimate
