// SPDX-License-Identifier: Apache-2.0
// The published figures of KOD2 and Liquid that the simulator can print. Goals and what is assumed
// are in docs/simulator.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/published.h"

namespace flowcon::sim::groups {

using Progress = std::function<void(const std::string& what)>;

/// KOD2: 10 jobs of each of four models. The figures are for 20 seeds.
[[nodiscard]] std::vector<PublishedRow> kod2_rows(std::uint64_t seeds,
                                                  const Progress& progress = nullptr);

/// Liquid on one number of nodes: 5, 10, 15 or 20.
struct LiquidSize {
  std::uint64_t nodes = 0;
  std::uint64_t seeds = 1;
};

/// Of each of them, then how mean JCT grows from the first to the last. The figures are for
/// 8 seeds, 4 at 20 nodes.
[[nodiscard]] std::vector<PublishedRow> liquid_rows(const std::vector<LiquidSize>& sizes,
                                                    const Progress& progress = nullptr);

/// By how many seconds mean JCT is longer on many nodes than on few, of that of random.
/// Met: at most a tenth of random's, which must grow.
[[nodiscard]] PublishedRow growth_row(const std::string& what, double few, double many,
                                      double random_few, double random_many);

}  // namespace flowcon::sim::groups
