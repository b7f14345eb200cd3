// SPDX-License-Identifier: Apache-2.0
// How the kernel divides a host's cores among groups: in proportion to their weights, none beyond
// what it can use or may use, and what one leaves goes to the others.
#pragma once

#include <vector>

namespace flowcon::sim {

/// One group. Units: cap in cores (what it can use, and its quota, whichever is less).
struct Demand {
  double weight = 1;
  double cap = 1;
};

/// Cores for each, in order: min(cap, level * weight) with the one level at which they add up to
/// `cores`, or every cap where the caps do not come to that much. O(n log n).
[[nodiscard]] std::vector<double> water_fill(const std::vector<Demand>& demands, double cores);

/// 1/sum(s^2) of the shares s of what is used: 1 where one has all, n where n have alike. 0 where
/// nothing is used.
[[nodiscard]] double effective_sharers(const std::vector<double>& rates);

}  // namespace flowcon::sim
