// SPDX-License-Identifier: Apache-2.0
// How the kernel divides a host's cores among groups: in proportion to their weights, none beyond
// its cap; the rest goes to the others.
#pragma once

#include <vector>

namespace flowcon::sim {

/// One group. Units: cap in cores (its parallelism or its quota, whichever is less).
struct Demand {
  double weight = 1;
  double cap = 1;
};

/// Cores for each, in order: min(cap, level * weight) with the one level at which they add up to
/// `cores`, or every cap if the caps add up to less. O(n log n).
[[nodiscard]] std::vector<double> water_fill(const std::vector<Demand>& demands, double cores);

/// 1/sum(s^2) of the shares s of the used cores: 1 if one has all, n if n have equal shares, 0 if
/// none is used.
[[nodiscard]] double effective_sharers(const std::vector<double>& rates);

}  // namespace flowcon::sim
