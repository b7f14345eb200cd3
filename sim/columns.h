// SPDX-License-Identifier: Apache-2.0
// Figures as text, and rows of text as a table of columns. Pure.
#pragma once

#include <string>
#include <vector>

#include "sim/summary.h"

namespace flowcon::sim {

/// To two decimals, as JSON and CSV have it; never -0.
[[nodiscard]] double rounded(double value);

/// With so many decimals: "-0.5", "12.0".
[[nodiscard]] std::string fixed(double value, int decimals);

/// "12.0 +-0.5", or "12.0" with one seed.
[[nodiscard]] std::string cell(const Figure& figure);

/// Columns as wide as their widest cell, the first to the left, the others to the right.
[[nodiscard]] std::string aligned(const std::vector<std::vector<std::string>>& rows);

}  // namespace flowcon::sim
