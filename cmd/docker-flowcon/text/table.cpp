// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/text/table.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "cmd/docker-flowcon/text/cells.h"

namespace flowcon::plugin {
namespace {

constexpr std::size_t kPadding = 3;
constexpr std::size_t kMinWidth = 10;

using Row = std::vector<std::string_view>;

// Widths of the padded cells. A cell is padded where another follows it in its row.
std::vector<std::vector<std::size_t>> column_widths(const std::vector<Row>& rows) {
  std::vector<std::vector<std::size_t>> widths(rows.size());
  std::size_t columns = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    widths[i].resize(rows[i].size() - 1);
    columns = std::max(columns, widths[i].size());
  }
  for (std::size_t column = 0; column < columns; ++column) {
    for (std::size_t first = 0; first < rows.size();) {
      std::size_t last = first;
      std::size_t width = kMinWidth;
      for (; last < rows.size() && column < widths[last].size(); ++last) {
        width = std::max(width, columns_of(rows[last][column]) + kPadding);
      }
      for (std::size_t i = first; i < last; ++i) widths[i][column] = width;
      first = std::max(last, first + 1);
    }
  }
  return widths;
}

}  // namespace

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string align_columns(std::string_view text) {
  std::vector<Row> rows;
  for (std::string_view line : split_at(text, '\n')) rows.push_back(split_at(line, '\t'));
  const std::vector<std::vector<std::size_t>> widths = column_widths(rows);
  std::string out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i > 0) out += '\n';
    for (std::size_t column = 0; column < rows[i].size(); ++column) {
      const std::string_view cell = rows[i][column];
      out += cell;
      if (column < widths[i].size()) out.append(widths[i][column] - columns_of(cell), ' ');
    }
  }
  return out;
}

}  // namespace flowcon::plugin
