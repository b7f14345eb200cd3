// SPDX-License-Identifier: Apache-2.0
// The columns of `docker flowcon top`: their choice by width, and their cells. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cmd/docker-flowcon/text/cells.h"
#include "cmd/docker-flowcon/top/layout.h"

namespace flowcon::plugin {

struct TopColumn {
  std::string_view heading;
  std::string_view order;  ///< of kTopOrders; "" = none
  std::size_t least = 0;   ///< columns of the terminal
  std::size_t most = 0;    ///< above `least` if it takes the remaining width
  unsigned rank = 0;       ///< a higher one is left out first
  Align align = Align::left;
  /// `width` is its width.
  TopSpan (*cell)(const TopRow& row, std::size_t width, bool is_utf8) = nullptr;
};

struct PlacedColumn {
  const TopColumn* column = nullptr;
  std::size_t width = 0;
};

/// Those that say something and fit into `width`, with a blank between two. With several
/// hosts, the host is among the first.
[[nodiscard]] std::vector<PlacedColumn> place_columns(std::size_t width, const TopState& state);

}  // namespace flowcon::plugin
