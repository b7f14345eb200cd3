// SPDX-License-Identifier: Apache-2.0
// Parts of what is printed: numbers, and tables of text.
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "sim/summary.h"

namespace flowcon::sim {

/// To two decimals, without -0.
[[nodiscard]] double rounded(double value);

/// With so many decimals, without -0.
[[nodiscard]] std::string fixed(double value, int decimals);

/// "-12.3 +-0.4"
[[nodiscard]] std::string text_of(const Figure& figure);

/// Columns as wide as their widest cell, the first to the left, the others to the right.
[[nodiscard]] std::string aligned(const std::vector<std::vector<std::string>>& rows);

/// A figure, a number or a word of a row.
struct Cell {
  std::string name;   ///< in JSON and CSV; "" = in the table of text alone
  std::string title;  ///< in the table of text; "" = not there
  std::variant<std::string, std::int64_t, double, Figure> value;
  int decimals = 1;  ///< in the table of text; a figure has its error there where it has one
};

enum class Format { table, csv, json };

/// As JSON has it.
[[nodiscard]] boost::json::object object_of(const std::vector<Cell>& row);

/// All rows have the same cells. JSON: an array with an object a row; CSV: the same members as
/// columns. A figure's standard error is NAME_se there, null or "" with one seed.
[[nodiscard]] std::string render(const std::vector<std::vector<Cell>>& rows, Format format);

/// A field of a table with commas, whatever is in it.
[[nodiscard]] std::string quoted(const std::string& text);

}  // namespace flowcon::sim
