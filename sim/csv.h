// SPDX-License-Identifier: Apache-2.0
// Comma-separated tables from untrusted files. Linear time, bounded memory; an error is a sentence
// with its line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace flowcon::sim {

/// Reads a table row by row. Fields may be in double quotes (two of them mean one); lines end with
/// LF or CRLF; empty lines are skipped. It keeps a view of the text.
class CsvReader {
 public:
  static constexpr std::size_t kMaxFields = 256;
  static constexpr std::size_t kMaxRows = 5'000'000;

  /// `what` names the text in sentences: the file's name.
  CsvReader(std::string_view text, std::string what) : text_(text), what_(std::move(what)) {}

  /// The first row is the header. Errors: there is none.
  [[nodiscard]] Result<void> read_header();
  /// The next row; false at the end. Errors: a quote that does not end, more fields than the header
  /// has, more rows than kMaxRows.
  [[nodiscard]] Result<bool> next();

  /// The column that has one of these names, whatever their case; the first name that is there.
  [[nodiscard]] std::optional<std::size_t> column(const std::vector<std::string_view>& names) const;

  /// The field of the present row, without blanks around it; "" where the row is short.
  [[nodiscard]] std::string_view field(std::optional<std::size_t> column) const;
  /// A finite number from `low` to `high`. Errors: it is none; the sentence has line and column.
  [[nodiscard]] Result<double> number(std::size_t column, double low, double high) const;
  /// "jobs.csv line 12"
  [[nodiscard]] std::string place() const;
  [[nodiscard]] const std::vector<std::string>& header() const { return header_; }

 private:
  [[nodiscard]] Result<bool> read_row();

  std::string_view text_;
  std::string what_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;  // of the present row
  std::size_t next_line_ = 1;
  std::size_t rows_ = 0;
  std::vector<std::string> header_;
  std::vector<std::string> row_;
};

}  // namespace flowcon::sim
