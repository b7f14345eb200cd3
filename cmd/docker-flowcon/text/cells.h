// SPDX-License-Identifier: Apache-2.0
// Text measured in columns of a terminal, where a character takes one or two. Pure but for the
// locale: wcwidth() has to know UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace flowcon::plugin {

/// Makes the process's characters those of its locale, or of C.UTF-8 where that one speaks of UTF-8
/// and is not installed. Returns whether they are UTF-8.
[[nodiscard]] bool take_locale();

/// `text` (UTF-8, safe for a terminal) with a '?' for each character that takes neither one column
/// nor two: terminals differ on those.
[[nodiscard]] std::string drawable(std::string_view text);

/// Columns that drawable text takes.
[[nodiscard]] std::size_t columns_of(std::string_view text);

/// Rows of a terminal of `width` columns that drawable text takes, at least one: a character of two
/// columns goes to the next row where the last column alone is left.
[[nodiscard]] std::size_t rows_of(std::string_view text, std::size_t width);

enum class Align { left, right };

/// Exactly `width` columns of drawable text: filled with blanks, or cut with an ellipsis at its
/// end.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t width,
                                 Align align = Align::left);

/// Drawable text broken at blanks into lines of at most `width` (at least 1) columns; a longer word
/// is broken where the line ends.
[[nodiscard]] std::vector<std::string> folded(std::string_view text, std::size_t width);

/// `text` with our own signs in ASCII and a '?' for each other character, as many columns wide.
[[nodiscard]] std::string ascii_cells(std::string_view text);

/// `values` as a line of at most `width` blocks, the last ones where there are more: the lowest
/// block is their least value, the highest their greatest. Values that are not finite are blanks.
[[nodiscard]] std::string sparkline(const std::vector<double>& values, std::size_t width,
                                    bool is_utf8);

}  // namespace flowcon::plugin
