// SPDX-License-Identifier: Apache-2.0
// Parts of what is printed: numbers, and tables of text.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <vector>

#include "sim/summary.h"

namespace flowcon::sim {

/// To two decimals, without -0.
[[nodiscard]] double rounded(double value);

/// With so many decimals, without -0.
[[nodiscard]] std::string fixed(double value, int decimals);

/// A figure's mean and, as NAME_se, its standard error (null or "" with one seed): members of an
/// object, names of CSV's columns and their fields, each with a comma before it.
void add_figure(boost::json::object& object, const std::string& name, const Figure& figure);
[[nodiscard]] std::string csv_names(const std::string& name);
[[nodiscard]] std::string csv_fields(const Figure& figure);

/// "-12.3 +-0.4"
[[nodiscard]] std::string cell(const Figure& figure);

/// Columns as wide as their widest cell, the first to the left, the others to the right.
[[nodiscard]] std::string aligned(const std::vector<std::vector<std::string>>& rows);

/// A field of a table with commas, whatever is in it.
[[nodiscard]] std::string quoted(const std::string& text);

}  // namespace flowcon::sim
