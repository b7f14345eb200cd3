// SPDX-License-Identifier: Apache-2.0
// Tables of measured runs, told apart by their columns (ALGORITHMS.md §9), as profiles with one
// label.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ctrl/estimate/estimate.h"

namespace flowcon::sim::estimate {

/// What a reference forest reached on the published table.
struct Reference {
  double r2 = 0;
  double error = 0;
  double upper_ratio = 0;
};

/// One label of a table.
struct Runs {
  static constexpr std::size_t kMostRows = 100'000;

  std::string what;  ///< "scaling-gavel, steps/s"
  Reference reference;
  std::vector<double>
      curve;  ///< reference R² with 25, 50, 100, 200, 400 runs; empty: there is none
  std::vector<ctrl::estimate::Profile> rows;  ///< each with this label alone; the last are latest
};

/// Is there a label in a table with this header?
[[nodiscard]] bool is_table(std::string_view text);

/// Each label of the table. Rows in which it is empty or not above 0 are left out. `file` is its
/// name. Errors: a field that is no number; too many rows.
[[nodiscard]] Result<std::vector<Runs>> parse_tables(std::string_view text,
                                                     const std::string& file);

}  // namespace flowcon::sim::estimate
