// SPDX-License-Identifier: Apache-2.0
#include "ctrl/metrics/column.h"

#include <algorithm>
#include <optional>

#include "ctrl/metrics/scan_internal.h"

namespace flowcon::ctrl::metrics {
namespace {

constexpr std::size_t kMaxBytes = 1024;  // of a head or a row
constexpr int kLeastNames = 3;
constexpr int kMostGaps = 64;  // lines in a row without a cell beneath the name

/// Beside blanks the walls of tables, "|" and what Unicode draws boxes with (U+2500 to U+257F).
std::size_t size_of_gap(std::string_view line, std::size_t at) {
  if (at >= line.size()) return 0;
  if (is_blank(line[at]) || line[at] == '|') return 1;
  const std::string_view sign = line.substr(at, 3);
  return sign.starts_with("\xE2\x94") || sign.starts_with("\xE2\x95") ? 3 : 0;
}

std::size_t end_of_cell(std::string_view line, std::size_t at) {
  while (at < line.size() && size_of_gap(line, at) == 0) ++at;
  return at;
}

std::size_t next_cell(std::string_view line, std::size_t at) {
  while (const std::size_t gap = size_of_gap(line, at)) at += gap;
  return at;
}

/// "OOB", "training_rmse"; no "loss:", "lr=0.1", "0.53".
bool may_be_name(std::string_view cell) {
  return cell.find_first_of(":={},.;") == std::string_view::npos;
}

bool is_alnum(char c) { return is_letter(c) || is_digit(c); }

bool is_missing(std::string_view cell) {
  return cell == "NA" || cell == "None" || std::none_of(cell.begin(), cell.end(), is_alnum);
}

}  // namespace

bool NamedColumn::read_head(std::string_view line, std::string_view name) {
  const std::size_t found = line.find(name);
  if (found == std::string_view::npos) return false;
  const std::size_t end = found + name.size();
  int names = 0;
  int classes = 0;  // "ntree  OOB  1  2  3": each has a column behind those of all
  bool is_whole = false;
  for (std::size_t at = next_cell(line, 0); at < line.size();) {
    const std::size_t stop = end_of_cell(line, at);
    const std::string_view cell = line.substr(at, stop - at);
    const std::optional<Number> number = number_at(cell, 0);
    const bool is_next = number && number->value == classes + 1;
    if (!may_be_name(cell) || (number || classes > 0) != is_next) return false;
    classes += is_next;
    ++names;
    is_whole = is_whole || at == found;
    at = next_cell(line, stop);
  }
  is_whole = is_whole && (end == line.size() || size_of_gap(line, end) > 0);
  if (!is_whole || names < kLeastNames || classes == 1) return false;
  begin_ = found;
  end_ = end;
  gaps_ = 0;
  return true;
}

const Field* NamedColumn::read(std::string_view line, std::string_view name) {
  is_head_ = line.size() <= kMaxBytes && read_head(line, name);
  if (is_head_ || !is_open() || line.size() > kMaxBytes) return nullptr;
  for (std::size_t at = next_cell(line, 0); at < std::min(end_, line.size());) {
    const std::size_t stop = end_of_cell(line, at);
    const std::string_view cell = line.substr(at, stop - at);
    at = next_cell(line, stop);
    const bool names_next = is_letter(cell.front()) && (cell.ends_with(':') || cell.ends_with('='));
    if (stop <= begin_ && !names_next) continue;
    if (const std::optional<Number> number = whole_number(cell)) {
      gaps_ = 0;
      field_.key = name;
      field_.value = number->value;
      field_.integer = number->integer;
      field_.percent = number->percent;
      field_.placed = true;
      return &field_;
    }
    if (!is_missing(cell)) end_ = 0;  // of another table, or prose
    break;
  }
  if (++gaps_ > kMostGaps) end_ = 0;
  return nullptr;
}

}  // namespace flowcon::ctrl::metrics
