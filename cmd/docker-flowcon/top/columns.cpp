// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/top/columns.h"

#include <algorithm>
#include <array>
#include <optional>

#include "cmd/docker-flowcon/text/units.h"

namespace flowcon::plugin {
namespace {

// The mark stays where a long name is cut.
TopSpan name_cell(const TopRow& row, std::size_t width, bool) {
  if (problem_of(row).empty()) return {row.name, TopStyle::strong};
  constexpr std::string_view mark = " !";
  const std::size_t room = width > mark.size() ? width - mark.size() : 0;
  const std::string name = fitted(row.name, std::min(room, columns_of(row.name)));
  return {name + std::string(mark), TopStyle::bad};
}
TopSpan host_cell(const TopRow& row, std::size_t, bool) { return {row.host, TopStyle::quiet}; }

// Why it is not under control.
std::optional<TopSpan> uncontrolled(const TopRow& row) {
  if (row.state == "paused") return TopSpan{"paused", TopStyle::strong};
  if (row.state == "frozen") return TopSpan{"frozen", TopStyle::quiet};
  if (row.state == "unsupported") return TopSpan{"off", TopStyle::bad};
  return std::nullopt;
}

TopSpan state_cell(const TopRow& row, std::size_t, bool) {
  return uncontrolled(row).value_or(TopSpan{row.pinned ? "pin" : ""});
}

// An override or a problem replaces the list, because it explains the limit.
TopSpan list_cell(const TopRow& row, std::size_t, bool) {
  if (const std::optional<TopSpan> span = uncontrolled(row)) return *span;
  const std::string text = row.list + (row.pinned ? " pin" : "");
  if (row.list == "NL" || row.list == "PC") return {text, TopStyle::good};
  if (row.list == "WL" || row.list == "WC") return {text, TopStyle::watch};
  return {text, TopStyle::settled};
}

using ctrl::Resource;

template <Resource resource>
TopSpan limit_cell(const TopRow& row, std::size_t, bool) {
  return {percent_text(row.limits[resource])};
}

template <Resource resource, std::string (*text)(std::optional<double>)>
TopSpan use_cell(const TopRow& row, std::size_t, bool) {
  return {text(row.use[resource])};
}

TopSpan growth_cell(const TopRow& row, std::size_t, bool) {
  if (row.growth) return {growth_text(row.growth)};
  if (row.verdict == "diverging") return {row.verdict, TopStyle::bad};
  return {row.verdict.empty() ? std::string(kUnknown) : row.verdict, TopStyle::quiet};
}

// The value says more than the end of a long name.
TopSpan metric_cell(const TopRow& row, std::size_t width, bool) {
  if (row.metric.empty() && !row.value) return {std::string(kUnknown), TopStyle::quiet};
  std::string value = row.value ? number_text(*row.value, 4) : "";
  value += row.goal == "min" ? " ↓" : row.goal == "max" ? " ↑" : "";
  if (row.metric.empty() || value.empty()) return {row.metric + value};
  const std::size_t taken = columns_of(value) + 1;
  const std::size_t room = width > taken ? width - taken : 0;
  if (room == 0) return {value};
  return {fitted(row.metric, std::min(room, columns_of(row.metric))) + " " + value};
}

TopSpan trend_cell(const TopRow& row, std::size_t width, bool is_utf8) {
  return {sparkline(row.trend, width, is_utf8), TopStyle::good};
}

TopSpan progress_cell(const TopRow& row, std::size_t, bool) { return {percent_text(row.progress)}; }

TopSpan left_cell(const TopRow& row, std::size_t, bool) { return {time_text(row.left)}; }

TopSpan note_cell(const TopRow& row, std::size_t, bool) { return {problem_of(row), TopStyle::bad}; }

constexpr unsigned kHostRank = 12;

// In the order in which they stand; a narrow terminal has room for the lowest ranks. What is left
// goes to the last ones first.
constexpr std::array<TopColumn, 16> kColumns{
    {{"NAME", "name", 12, 32, 0, Align::left, name_cell},
     {"HOST", "host", 8, 16, kHostRank, Align::left, host_cell},
     {"LIST", "list", 6, 6, 4, Align::left, list_cell},
     {"STATE", "", 6, 6, 4, Align::left, state_cell},
     {"METRIC", "", 14, 22, 1, Align::left, metric_cell},
     {"DONE", "", 6, 6, 2, Align::right, progress_cell},
     {"LIMIT", "limit", 6, 6, 3, Align::right, limit_cell<Resource::cpu>},
     {"LEFT", "", 6, 6, 4, Align::right, left_cell},
     {"CPU %", "cpu", 6, 6, 4, Align::right, use_cell<Resource::cpu, percent_text>},
     {"TREND", "", 8, 24, 5, Align::left, trend_cell},
     {"GROWTH", "growth", 11, 11, 6, Align::right, growth_cell},
     {"MEM", "memory", 8, 8, 7, Align::right, use_cell<Resource::memory, memory_text>},
     {"MEM LIM", "", 7, 7, 9, Align::right, limit_cell<Resource::memory>},
     {"I/O", "io", 9, 9, 8, Align::right, use_cell<Resource::io, rate_text>},
     {"I/O LIM", "", 7, 7, 10, Align::right, limit_cell<Resource::io>},
     {"NOTE", "", 16, 200, 11, Align::left, note_cell}}};

// Whether the column says anything about these containers.
bool is_wanted(const TopColumn& column, const TopState& state) {
  const bool has_lists = state.view.host.has_lists;
  if (column.cell == list_cell || column.cell == growth_cell) return has_lists;
  if (column.cell != state_cell) return true;
  const auto has_state = [](const TopRow& row) { return !state_cell(row, 0, true).text.empty(); };
  return !has_lists && (std::any_of(state.view.rows.begin(), state.view.rows.end(), has_state) ||
                        std::any_of(state.elsewhere.begin(), state.elsewhere.end(), has_state));
}

}  // namespace

std::vector<PlacedColumn> place_columns(std::size_t width, const TopState& state) {
  std::vector<const TopColumn*> ranked;
  for (const TopColumn& column : kColumns) {
    if (is_wanted(column, state)) ranked.push_back(&column);
  }
  const auto rank_of = [&state](const TopColumn* column) {
    return column->rank == kHostRank && !state.elsewhere.empty() ? 4U : column->rank;
  };
  std::stable_sort(ranked.begin(), ranked.end(),
                   [&](const TopColumn* a, const TopColumn* b) { return rank_of(a) < rank_of(b); });
  std::size_t taken = 0;
  std::vector<const TopColumn*> chosen;
  for (const TopColumn* column : ranked) {
    const std::size_t wanted = column->least + (chosen.empty() ? 0 : 1);
    if (taken + wanted > width && !chosen.empty()) break;
    taken += wanted;
    chosen.push_back(column);
  }
  std::vector<PlacedColumn> placed;
  for (const TopColumn& column : kColumns) {
    if (std::find(chosen.begin(), chosen.end(), &column) == chosen.end()) continue;
    placed.push_back({&column, std::min(column.least, width)});
  }
  std::size_t left = width - std::min(taken, width);
  // A name is cut where there is no room; then the others take what they can use.
  for (auto& [column, own] : placed) {
    const std::size_t more = std::min(left, column->most > own ? column->most - own : 0);
    // Half of it first for names, so that a trend can be seen, too.
    const std::size_t share = column->rank == 0 ? std::min(more, (left + 1) / 2) : more;
    own += share;
    left -= share;
  }
  return placed;
}

}  // namespace flowcon::plugin
