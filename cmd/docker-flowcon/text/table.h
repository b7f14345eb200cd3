// SPDX-License-Identifier: Apache-2.0
// Columns for the terminal, aligned as docker aligns them (Go's tabwriter: padding 3, width at
// least 10).
#pragma once

#include <string>
#include <string_view>

namespace flowcon::plugin {

/// `text` with its tab-separated cells padded to columns. A column is a run of neighbouring lines
/// that have the cell, as in Go; the last cell of a line is never padded.
[[nodiscard]] std::string align_columns(std::string_view text);

/// The number of characters (code points) in `text`.
[[nodiscard]] std::size_t character_count(std::string_view text);

}  // namespace flowcon::plugin
