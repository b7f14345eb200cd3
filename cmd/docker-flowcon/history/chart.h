// SPDX-License-Identifier: Apache-2.0
// A line chart in characters: braille dots, two by four a character, or plain ASCII. Pure.
#pragma once

#include <string>
#include <vector>

namespace flowcon::plugin {

struct ChartPoint {
  double x = 0;
  double y = 0;
};

struct ChartLook {
  unsigned width = 80;                         ///< characters in all, labels included; at least 20
  unsigned height = 20;                        ///< lines in all, axes included; at least 5
  bool braille = true;                         ///< else ASCII only
  bool has_steps = false;                      ///< a value holds until the next one
  std::string (*x_label)(double x) = nullptr;  ///< at most 20 characters, ASCII
  std::string (*y_label)(double y) = nullptr;  ///< at most 12 characters, ASCII
};

/// The chart of `points` in their order, each line ended. A point that is not finite is a gap. ""
/// where no point is finite. One point, or values that are all alike, stand in the middle.
[[nodiscard]] std::string render_chart(const std::vector<ChartPoint>& points,
                                       const ChartLook& look);

}  // namespace flowcon::plugin
