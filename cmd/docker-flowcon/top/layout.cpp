// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/top/layout.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/json_reader.h"
#include "cmd/docker-flowcon/text/cells.h"
#include "cmd/docker-flowcon/text/times.h"
#include "cmd/docker-flowcon/text/units.h"
#include "cmd/docker-flowcon/top/columns.h"

namespace flowcon::plugin {
namespace {

// Lines around the rows: two on top, the heading, one about the selected one, the keys.
constexpr std::size_t kAround = 5;
constexpr std::size_t kMostAbout = 3;
constexpr std::size_t kSmallScreen = 16;
constexpr std::size_t kBarWidth = 20;

constexpr std::array<std::pair<const char*, const char*>, 15> kKeys{
    {{"q, ^C", "quit"},
     {"? h", "this page"},
     {"j k, arrows", "select a container; Page Up and Down, Home and End go further"},
     {"s < >", "sort by the next column or the one before: arrival, name, list,"},
     {"", "limit, cpu, memory, io, growth, host"},
     {"r", "reverse the order"},
     {"/", "show only containers with this text in name, image, host, list,"},
     {"", "state or metric; Escape removes the filter"},
     {"p", "pause control of the container, or resume it"},
     {"P", "pin it to a share of the host: 50%, or 50% 2h for two hours"},
     {"u", "unpin it"},
     {"e, Enter", "details of the container, its last decisions and their reasons"},
     {"Space", "freeze or continue the view"},
     {"^L", "redraw the screen"},
     {"", ""}}};

constexpr const char* kLists = "LIST: NL new or still learning; WL watched, slower; CL converged.";
constexpr const char* kRankedLists =
    "In details NL: before its usable model; CL: probably past it.";
constexpr std::array<const char*, 9> kWords{
    "On other hosts PC, WC, CC: progressing, watched, converged. off: not under",
    "control. pin: pinned by a person. !: something is wrong; NOTE says what, and",
    "so do the lines at the bottom about the selected container.",
    "LIMIT: share of the host it gets if others want it, too. GROWTH:",
    "progress per second and whole host. TREND: the last values of its metric.",
    "LEFT: remaining time at the present pace, if a progress counter or an earlier",
    "run shows it.",
    "MEM LIM and I/O LIM are those of memory and block I/O. Columns that do not",
    "fit are left out."};

std::size_t line_columns(const TopLine& line) {
  std::size_t columns = 0;
  for (const TopSpan& span : line) columns += columns_of(span.text);
  return columns;
}

// Cuts the line to `width`.
TopLine cut(TopLine line, std::size_t width) {
  std::size_t taken = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::size_t columns = columns_of(line[i].text);
    if (taken + columns > width) {
      line[i].text = fitted(line[i].text, width - taken);
      line.resize(i + 1);
      break;
    }
    taken += columns;
  }
  return line;
}

TopLine filled(TopLine line, std::size_t width, TopStyle style) {
  line = cut(std::move(line), width);
  line.push_back({std::string(width - line_columns(line), ' '), style});
  return line;
}

class Layout {
 public:
  Layout(TopState& state, const TopLook& look) : state_(state), look_(look) {}

  std::vector<TopLine> make() {
    // A small screen is for the rows.
    if (look_.height > kAround + 1) {
      lines_.push_back(head());
      lines_.push_back(load());
    }
    if (state_.mode == TopMode::help || state_.mode == TopMode::details) {
      page(state_.mode == TopMode::help ? help() : details());
    } else {
      rows();
    }
    lines_.resize(look_.height);
    for (TopLine& line : lines_) {
      line = cut(std::move(line), look_.width);
      if (look_.is_utf8) continue;
      for (TopSpan& span : line) span.text = ascii_cells(span.text);
    }
    return std::move(lines_);
  }

 private:
  TopLine head() const {
    const TopHost& host = state_.view.host;
    TopLine line{{host.name, TopStyle::strong}};
    if (!state_.problem.empty()) {
      line.push_back({"  " + state_.problem, TopStyle::bad});
      return line;
    }
    std::string words = "  " + clock_text(state_.now) + "  " + host.limit_mode;
    if (!host.policy.empty()) words += "  policy " + host.policy;
    if (host.alpha) words += "  alpha " + number_text(*host.alpha * 100, 3) + " %";
    if (host.interval) words += "  interval " + number_text(*host.interval, 4) + " s";
    line.push_back({words, TopStyle::quiet});
    if (host.is_all_completing) line.push_back({"  all converged", TopStyle::settled});
    if (host.is_dry_run) line.push_back({"  dry run", TopStyle::watch});
    if (host.is_paused) line.push_back({"  ALL PAUSED", TopStyle::strong});
    if (state_.is_frozen) line.push_back({"  FROZEN", TopStyle::strong});
    if (!host.warnings.empty()) line.push_back({"  " + host.warnings.front(), TopStyle::bad});
    return line;
  }

  // "CPU [#######             ]  37.1%  5 containers: 2 NL 1 WL 2 CL"
  TopLine load() const {
    double cpu = 0;
    std::array<std::size_t, 3> lists{};
    for (const TopRow& row : state_.view.rows) {
      cpu += row.use.cpu.value_or(0);
      ++lists[row.list == "NL" ? 0 : row.list == "WL" ? 1 : 2];
    }
    const double part = std::clamp(cpu, 0.0, 1.0);
    const auto full = static_cast<std::size_t>(part * static_cast<double>(kBarWidth) + 0.5);
    const std::size_t count = state_.view.rows.size();
    TopLine line{
        {"CPU [" + std::string(full, '#') + std::string(kBarWidth - full, ' ') + "] " +
             fitted(percent_text(cpu), 6, Align::right) + "  ",
         TopStyle::plain},
        {std::to_string(count) + (count == 1 ? " container" : " containers"), TopStyle::plain}};
    if (state_.view.host.has_lists) {
      line.push_back({": ", TopStyle::plain});
      line.push_back({std::to_string(lists[0]) + " NL ", TopStyle::good});
      line.push_back({std::to_string(lists[1]) + " WL ", TopStyle::watch});
      line.push_back({std::to_string(lists[2]) + " CL", TopStyle::settled});
    }
    if (!state_.elsewhere.empty()) {
      line.push_back(
          {"  " + std::to_string(state_.elsewhere.size()) + " on other hosts", TopStyle::quiet});
    }
    if (!state_.view.host.queue.empty()) {
      line.push_back({"  queue: " + state_.view.host.queue, TopStyle::quiet});
    }
    if (!state_.filter.empty()) line.push_back({"  filter: " + state_.filter, TopStyle::strong});
    return line;
  }

  TopLine heading(const std::vector<PlacedColumn>& columns) const {
    TopLine line;
    for (const PlacedColumn& placed : columns) {
      std::string text(placed.column->heading);
      if (!text.empty() && placed.column->order == kTopOrders[state_.order].name) {
        text += state_.is_descending ? "↓" : "↑";
      }
      line.push_back({(line.empty() ? "" : " ") + fitted(text, placed.width, placed.column->align),
                      TopStyle::heading});
    }
    return filled(std::move(line), look_.width, TopStyle::heading);
  }

  TopLine row_line(const TopRow& row, const std::vector<PlacedColumn>& columns) const {
    const bool is_selected = row.id == state_.selected;
    TopLine line;
    for (const PlacedColumn& placed : columns) {
      TopSpan span = placed.column->cell(row, placed.width, look_.is_utf8);
      span.text = (line.empty() ? "" : " ") + fitted(span.text, placed.width, placed.column->align);
      if (is_selected) span.style = TopStyle::selected;
      line.push_back(std::move(span));
    }
    return is_selected ? filled(std::move(line), look_.width, TopStyle::selected) : line;
  }

  void rows() {
    const std::vector<const TopRow*> all = visible_rows(state_);
    const std::vector<PlacedColumn> columns = place_columns(look_.width, state_);
    lines_.push_back(heading(columns));
    const std::vector<TopLine> about = about_selected();
    const std::size_t below = 1 + about.size();
    const std::size_t taken = lines_.size() + below;
    const std::size_t room = look_.height > taken ? look_.height - taken : 1;
    scroll_to_selected(all, room);
    state_.page_rows = room;
    for (std::size_t i = state_.first_row; i < all.size() && i < state_.first_row + room; ++i) {
      lines_.push_back(row_line(*all[i], columns));
    }
    if (all.empty()) lines_.push_back({{empty_words(), TopStyle::quiet}});
    if (look_.height > below) lines_.resize(look_.height - below);
    lines_.insert(lines_.end(), about.begin(), about.end());
    lines_.push_back(bottom());
  }

  [[nodiscard]] std::string empty_words() const {
    if (!state_.filter.empty()) return "no container matches the filter; Escape removes it";
    return "no container is under control; start one with docker flowcon run or adopt";
  }

  void scroll_to_selected(const std::vector<const TopRow*>& all, std::size_t room) {
    std::size_t at = 0;
    while (at < all.size() && all[at]->id != state_.selected) ++at;
    std::size_t& first = state_.first_row;
    if (at < all.size() && at < first) first = at;
    if (at < all.size() && at >= first + room) first = at - room + 1;
    const std::size_t most = all.size() > room ? all.size() - room : 0;
    first = std::min(first, most);
  }

  [[nodiscard]] TopSpan selected_words() const {
    const TopRow* row = selected_row(state_);
    if (!state_.message.empty()) {
      return {state_.message, state_.is_message_bad ? TopStyle::bad : TopStyle::strong};
    }
    if (row == nullptr) return {};
    const std::string problem = problem_of(*row);
    if (!problem.empty()) return {row->name + ": " + problem, TopStyle::bad};
    return {row->name + ": " + (row->reason.empty() ? row->state : row->reason), TopStyle::quiet};
  }

  // None on the smallest screens, one on small ones: they are for the rows.
  [[nodiscard]] std::vector<TopLine> about_selected() const {
    if (look_.height <= kAround) return {};
    const std::size_t most = look_.height < kSmallScreen ? 1 : kMostAbout;
    const TopSpan words = selected_words();
    std::vector<std::string> parts = folded(words.text, std::max<std::size_t>(look_.width, 1));
    if (parts.size() > most) {
      parts[most - 1] = fitted(parts[most - 1] + " " + parts[most], look_.width);
      parts.resize(most);
    }
    std::vector<TopLine> lines;
    for (const std::string& part : parts) lines.push_back({{part, words.style}});
    return lines;
  }

  [[nodiscard]] TopLine bottom() const {
    if (state_.mode == TopMode::filter) {
      return {{"filter: ", TopStyle::strong}, {state_.input + "_", TopStyle::plain}};
    }
    if (state_.mode == TopMode::pin) {
      const TopRow* row = selected_row(state_);
      return {
          {"pin " + (row != nullptr ? row->name : "") + " to (50%, or 50% 2h): ", TopStyle::strong},
          {state_.input + "_", TopStyle::plain}};
    }
    TopLine line;
    for (const auto& [key, words] : {std::pair("q", "quit"),
                                     {"?", "help"},
                                     {"/", "filter"},
                                     {"s", "sort"},
                                     {"r", "reverse"},
                                     {"p", "pause"},
                                     {"P", "pin"},
                                     {"u", "unpin"},
                                     {"e", "explain"}}) {
      line.push_back({std::string(line.empty() ? "" : "  ") + key, TopStyle::strong});
      line.push_back({std::string(" ") + words, TopStyle::quiet});
    }
    return line;
  }

  // --- pages

  void page(const std::vector<TopLine>& all) {
    const std::size_t taken = lines_.size() + 1;
    const std::size_t room = look_.height > taken ? look_.height - taken : 1;
    const std::size_t most = all.size() > room ? all.size() - room : 0;
    state_.page_rows = room;
    state_.page_line = std::min(state_.page_line, most);
    for (std::size_t i = state_.page_line; i < all.size() && i < state_.page_line + room; ++i) {
      lines_.push_back(all[i]);
    }
    if (look_.height > 1) lines_.resize(look_.height - 1);
    lines_.push_back({{"Escape", TopStyle::strong}, {" back", TopStyle::quiet}});
    if (most > 0) {
      lines_.back().push_back({"  arrows", TopStyle::strong});
      lines_.back().push_back({" more, " + std::to_string(state_.page_line + 1) + " to " +
                                   std::to_string(std::min(state_.page_line + room, all.size())) +
                                   " of " + std::to_string(all.size()) + " lines",
                               TopStyle::quiet});
    }
  }

  [[nodiscard]] std::vector<TopLine> help() const {
    std::vector<TopLine> lines;
    for (const auto& [key, words] : kKeys) {
      lines.push_back({{fitted(key, 13), TopStyle::strong}, {words, TopStyle::plain}});
    }
    lines.push_back({{state_.view.host.has_lists ? kLists : kRankedLists, TopStyle::quiet}});
    for (const char* words : kWords) lines.push_back({{words, TopStyle::quiet}});
    return lines;
  }

  void fact(std::vector<TopLine>& lines, const std::string& name, const std::string& value,
            TopStyle style = TopStyle::plain) const {
    constexpr std::size_t kIndent = 10;
    if (value.empty() || value == kUnknown) return;
    const std::size_t room = look_.width > kIndent + 10 ? look_.width - kIndent : 10;
    std::string label = name;
    for (const std::string& part : folded(value, room)) {
      lines.push_back({{fitted(label, kIndent), TopStyle::quiet}, {part, style}});
      label.clear();
    }
  }

  [[nodiscard]] std::vector<TopLine> details() const {
    const TopRow* row = selected_row(state_);
    std::vector<TopLine> lines;
    if (row == nullptr) return {{{"the container is gone", TopStyle::bad}}};
    fact(lines, "container", row->name, TopStyle::strong);
    fact(lines, "id", drawable(row->id));
    fact(lines, "image", row->image);
    fact(lines, "host", row->host);
    fact(lines, "state", row->state + (row->list.empty() ? "" : ", " + row->list));
    fact(lines, "note", row->note, TopStyle::bad);
    for (const std::string& warning : row->warnings) fact(lines, "warning", warning, TopStyle::bad);
    fact(lines, "metric",
         row->metric + (row->goal.empty() ? "" : " (" + row->goal + ")") +
             (row->value ? " " + number_text(*row->value, 6) : ""));
    const std::string settings =
        (row->weight ? "weight " + number_text(*row->weight, 4) : "") +
        (row->floor ? ", floor " + percent_text(row->floor) : "") +
        (row->ceiling ? ", ceiling " + percent_text(row->ceiling) : "") +
        (row->pinned ? ", pinned to " + percent_text(row->pinned) : "") +
        (row->pinned_until ? " until " + moment_text(row->pinned_until) : "");
    fact(lines, "settings", settings);
    fact(lines, "trend",
         sparkline(row->trend, look_.width > 20 ? look_.width - 12 : 8, look_.is_utf8),
         TopStyle::good);
    lines.emplace_back();
    if (state_.decisions.empty()) {
      lines.push_back({{"no recorded decision yet", TopStyle::quiet}});
    }
    for (const std::string& decision : state_.decisions) {
      for (const std::string& part : folded(decision, std::max<std::size_t>(look_.width, 10))) {
        lines.push_back({{part, TopStyle::plain}});
      }
    }
    return lines;
  }

  TopState& state_;
  const TopLook& look_;
  std::vector<TopLine> lines_;
};

}  // namespace

std::vector<TopLine> layout_top(TopState& state, const TopLook& look) {
  return Layout(state, look).make();
}

}  // namespace flowcon::plugin
