// SPDX-License-Identifier: Apache-2.0
#include "sim/csv.h"

#include "base/digits.h"
#include "base/json.h"
#include "base/text.h"

namespace flowcon::sim {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

}  // namespace

std::string CsvReader::place() const { return what_ + " line " + std::to_string(line_); }

// One row into row_; false at the end of the text.
Result<bool> CsvReader::read_row() {
  while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) {
    next_line_ += text_[at_] == '\n';
    ++at_;
  }
  if (at_ >= text_.size()) return false;
  line_ = next_line_;
  row_.clear();
  std::string field;
  bool is_quoted = false;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '\n') ++next_line_;
    if (is_quoted) {
      if (c != '"') {
        field += c;
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        field += '"';
        ++at_;
      } else {
        is_quoted = false;
      }
      continue;
    }
    if (c == '"' && field.empty()) {
      is_quoted = true;
    } else if (c == ',') {
      if (row_.size() + 1 >= kMaxFields) {
        return bad_input(place() + ": more than " + std::to_string(kMaxFields) + " columns");
      }
      row_.push_back(std::move(field));
      field.clear();
    } else if (c == '\n') {
      ++at_;
      break;
    } else if (c != '\r') {
      field += c;
    }
  }
  if (is_quoted) return bad_input(place() + ": a quote has no end");
  row_.push_back(std::move(field));
  return true;
}

Result<void> CsvReader::read_header() {
  if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;
  const Result<bool> got = read_row();
  if (!got) return got.error();
  if (!*got) return bad_input(what_ + " is empty; a table with a header was expected");
  for (const std::string& name : row_) header_.push_back(lower(trimmed(name)));
  return {};
}

Result<bool> CsvReader::next() {
  const Result<bool> got = read_row();
  if (!got || !*got) return got;
  if (++rows_ > kMaxRows) {
    return bad_input(what_ + " has more than " + std::to_string(kMaxRows) + " rows");
  }
  if (row_.size() > header_.size()) {
    return bad_input(place() + ": " + std::to_string(row_.size()) +
                     " fields where the header has " + std::to_string(header_.size()));
  }
  return true;
}

std::optional<std::size_t> CsvReader::column(const std::vector<std::string_view>& names) const {
  for (const std::string_view name : names) {
    for (std::size_t i = 0; i < header_.size(); ++i) {
      if (header_[i] == name) return i;
    }
  }
  return std::nullopt;
}

std::string_view CsvReader::field(std::optional<std::size_t> column) const {
  return column && *column < row_.size() ? trimmed(row_[*column]) : std::string_view();
}

Result<double> CsvReader::number(std::size_t column, double low, double high) const {
  const std::string_view text = field(column);
  const std::optional<double> number = parse_number<double>(text);
  if (!number || !(*number >= low && *number <= high)) {
    return bad_input(place() + ": " + printable(header_[column], 40) + ": \"" +
                     printable(text, 40) + "\" is not a number from " + render_number(low) +
                     " to " + render_number(high));
  }
  return *number;
}

}  // namespace flowcon::sim
