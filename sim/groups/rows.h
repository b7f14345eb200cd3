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

/// Liquid on so many nodes (5, 10, 15, 20). The figures are for 8 seeds, 4 at 20 nodes.
[[nodiscard]] std::vector<PublishedRow> liquid_rows(std::uint64_t nodes, std::uint64_t seeds,
                                                    const Progress& progress = nullptr);

}  // namespace flowcon::sim::groups
