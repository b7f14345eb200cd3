// SPDX-License-Identifier: Apache-2.0
// Tables: a line of column names, then lines of values. Columns stand between pipes, tabs, commas,
// semicolons or blanks. Rows may carry a label ("all  128  929  0.63"), a mark at their end
// ("best") or a progress bar.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ctrl/metrics/names.h"
#include "ctrl/metrics/number.h"

namespace flowcon::ctrl::metrics {

struct Cell {
  std::string_view column;  ///< the column's name
  Number number;
  double total = 0;  ///< b of "0/299"
  bool has_total = false;
  bool unit = false;
};

enum class TableLine { none, header, row };

/// Remembers the last header; bounded by kMaxColumns names.
class TableReader {
 public:
  /// What `line` is, of which `text` is the part behind what may be a prefix: a time may be the
  /// first column, and what stands before the header stands before its rows. After `row`, row(),
  /// cells() and label() hold its values until the next call.
  TableLine read(std::string_view line, std::string_view text);
  [[nodiscard]] bool has_header() const { return how_ != Split::none; }
  /// The line before may be the upper half of a header.
  [[nodiscard]] bool awaits_header() const { return !previous_.empty(); }
  /// Is all of `line` a row of the present table?
  bool is_row(std::string_view line);
  /// A line that is known to be neither header nor row stands here.
  void pass_over();
  [[nodiscard]] const std::vector<Cell>& cells() const { return cells_; }
  /// The part of the line that is the row.
  [[nodiscard]] std::string_view row() const { return row_; }
  /// The text in front of a row's values, "" where there is none.
  [[nodiscard]] std::string_view label() const { return label_; }
  /// The part of the data that a cell among them names ("train").
  [[nodiscard]] Phase phase() const { return phase_; }

 private:
  enum class Split { none, blanks, wide_blanks, tabs, commas, semicolons, pipes, inner_pipes };
  bool read_header(std::string_view line);
  bool read_row(std::string_view text);
  bool read_row(std::string_view line, Split how);
  bool join_header(std::string_view line);
  static bool split(std::string_view line, Split how, std::vector<std::string_view>& cells);
  bool drop_remark(std::string_view line);
  bool take_cell(std::string_view text, const std::string& column);

  Split how_ = Split::none;
  std::string prefix_;  ///< what stands before the header
  std::vector<std::string> columns_;
  std::vector<std::string> narrow_;  ///< the columns if every blank parts two names
  bool ends_in_remarks_ = false;     ///< rows may lack their last cell
  bool just_read_header_ = false;
  std::vector<std::string> previous_;  ///< words of the line before: the upper half of a header
  std::vector<std::string_view> parts_;
  std::vector<Cell> cells_;
  std::string_view label_;
  std::string_view row_;
  Phase phase_ = Phase::none;
};

}  // namespace flowcon::ctrl::metrics
