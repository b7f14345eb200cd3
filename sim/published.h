// SPDX-License-Identifier: Apache-2.0
// Figures of the publications beside those of the simulator.
#pragma once

#include <string>
#include <vector>

#include "sim/render.h"

namespace flowcon::sim {

/// One figure, in words with units.
struct PublishedRow {
  std::string experiment;
  std::string published;
  std::string ours;
  std::string goal;
  bool is_met = false;
  bool is_simulated = true;  ///< else it needs real containers, and `ours` is "-"
};

/// JSON: an array with one object a row; CSV: the same members as columns. Of what is not
/// simulated `is_met` is null, or empty.
[[nodiscard]] std::string render(const std::vector<PublishedRow>& rows, Format format);

}  // namespace flowcon::sim
