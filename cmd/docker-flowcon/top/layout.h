// SPDX-License-Identifier: Apache-2.0
// The screen of `docker flowcon top` as lines of styled text. Pure but for the locale (cells.h).
#pragma once

#include <string>
#include <vector>

#include "cmd/docker-flowcon/top/state.h"

namespace flowcon::plugin {

enum class TopStyle { plain, quiet, strong, heading, selected, good, watch, settled, bad };

struct TopSpan {
  std::string text;  ///< drawable
  TopStyle style = TopStyle::plain;
};

using TopLine = std::vector<TopSpan>;

struct TopLook {
  std::size_t width = 80;   ///< columns
  std::size_t height = 24;  ///< lines
  bool is_utf8 = true;      ///< else every character is ASCII
};

/// Exactly `look.height` lines of at most `look.width` columns. Clamps the
/// state's scroll position (first_row, page_line, page_rows) to the rows.
[[nodiscard]] std::vector<TopLine> layout_top(TopState& state, const TopLook& look);

}  // namespace flowcon::plugin
