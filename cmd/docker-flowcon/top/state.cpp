// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/top/state.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <cmath>
#include <cstddef>

#include "base/json.h"
#include "base/text.h"
#include "cmd/docker-flowcon/job/control.h"
#include "cmd/docker-flowcon/text/times.h"
#include "cmd/docker-flowcon/text/values.h"

namespace flowcon::plugin {
namespace {

constexpr std::size_t kMostInput = 64;

bool is_let_through(const TopRow& row, const std::string& filter) {
  if (filter.empty()) return true;
  for (const std::string* text :
       {&row.name, &row.image, &row.host, &row.list, &row.state, &row.metric}) {
    if (lower(*text).find(filter) != std::string::npos) return true;
  }
  return row.id.compare(0, filter.size(), filter) == 0;
}

// What is not known comes last, whichever way the others go.
int compare_numbers(const std::optional<double>& a, const std::optional<double>& b, bool descends) {
  const bool has_a = a && !std::isnan(*a);
  const bool has_b = b && !std::isnan(*b);
  if (!has_a || !has_b) return has_a ? -1 : has_b ? 1 : 0;
  const int order = *a < *b ? -1 : *a > *b ? 1 : 0;
  return descends ? -order : order;
}

int compare_texts(const std::string& a, const std::string& b, bool descends) {
  const int order = a.compare(b);
  return descends ? -order : order;
}

// Jobs that still learn come first.
int list_rank(const TopRow& row) {
  static constexpr std::array<std::string_view, 6> kRanks{"NL", "PC", "WL", "WC", "CL", "CC"};
  return static_cast<int>(std::find(kRanks.begin(), kRanks.end(), row.list) - kRanks.begin());
}

int compare(const TopRow& a, const TopRow& b, std::string_view order, bool descends) {
  if (order == "name") return compare_texts(a.name, b.name, descends);
  if (order == "host") return compare_texts(a.host, b.host, descends);
  if (order == "list") return (list_rank(a) - list_rank(b)) * (descends ? -1 : 1);
  if (order == "limit") return compare_numbers(a.limits.cpu, b.limits.cpu, descends);
  for (const ctrl::Resource resource : ctrl::kResources) {
    if (order == name(resource)) return compare_numbers(a.use[resource], b.use[resource], descends);
  }
  return compare_numbers(a.growth, b.growth, descends);
}

std::size_t position_of(const std::vector<const TopRow*>& rows, const std::string& id) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const TopRow* row) { return row->id == id; });
  return static_cast<std::size_t>(found - rows.begin());
}

void select(TopState& state, const std::vector<const TopRow*>& rows, std::size_t position) {
  state.selected = rows.empty() ? "" : rows[std::min(position, rows.size() - 1)]->id;
}

void say(TopState& state, const std::string& message, bool is_bad = false) {
  state.message = message;
  state.is_message_bad = is_bad;
}

void move_selection(TopState& state, std::ptrdiff_t by) {
  const std::vector<const TopRow*> rows = visible_rows(state);
  const auto at = static_cast<std::ptrdiff_t>(position_of(rows, state.selected));
  select(state, rows, static_cast<std::size_t>(std::max<std::ptrdiff_t>(at + by, 0)));
}

// The row that a command is about; says why there is none.
const TopRow* commanded_row(TopState& state) {
  const TopRow* row = selected_row(state);
  if (row == nullptr) {
    say(state, "no container is selected", true);
  } else if (row->is_elsewhere) {
    say(state, row->name + " is on " + row->host + ": ask there", true);
    row = nullptr;
  } else if (!is_object_name(row->id)) {
    say(state, row->name + " has no valid id", true);
    row = nullptr;
  }
  return row;
}

TopAction post(const TopRow& row, const std::string& verb, const std::string& success,
               const std::string& body = "") {
  TopAction action;
  action.kind = TopAction::Kind::post;
  action.id = row.id;
  action.verb = verb;
  action.body = body;
  action.success = row.name + success;
  return action;
}

TopAction toggle_pause(TopState& state) {
  const TopRow* row = commanded_row(state);
  if (row == nullptr) return {};
  return row->state == "paused" ? post(*row, "resume", ": control resumed")
                                : post(*row, "pause", " is paused: original limits restored");
}

TopAction unpin(TopState& state) {
  const TopRow* row = commanded_row(state);
  if (row == nullptr) return {};
  if (!row->pinned) {
    say(state, row->name + " is not pinned", true);
    return {};
  }
  return post(*row, "unpin", ": the policy decides its limit again");
}

// "50%", "0.5", "50% 2h".
TopAction pin(TopState& state) {
  const TopRow* row = commanded_row(state);
  if (row == nullptr) return {};
  const std::size_t blank = std::min(state.input.find(' '), state.input.size());
  const std::string share = state.input.substr(0, blank);
  const std::size_t rest = state.input.find_first_not_of(' ', blank);
  const std::string time = rest == std::string::npos ? "" : state.input.substr(rest);
  const std::optional<double> seconds = parse_duration(time);
  if (!parse_share(share) || (!time.empty() && (!seconds || !(*seconds > 0)))) {
    say(state, "a share such as 50% or 0.5, optionally followed by a time such as 2h", true);
    return {};
  }
  boost::json::object body{{"cpu", share_word(share)}};
  if (!time.empty()) body["for"] = render_number(*seconds);
  return post(*row, "pin", " is pinned to " + share + (time.empty() ? "" : " for " + time),
              render_json(body));
}

TopAction show_details(TopState& state) {
  const TopRow* row = selected_row(state);
  if (row == nullptr) return {};
  state.mode = TopMode::details;
  state.page_line = 0;
  state.decisions.clear();
  if (row->is_elsewhere || !is_object_name(row->id)) return {};
  TopAction action;
  action.kind = TopAction::Kind::explain;
  action.id = row->id;
  return action;
}

void sort_by(TopState& state, std::size_t order) {
  state.order = order % kTopOrders.size();
  state.is_descending = kTopOrders[state.order].is_descending;
}

TopAction take_letter(TopState& state, char letter) {
  TopAction action;
  switch (letter) {
    case 'q':
      action.kind = TopAction::Kind::quit;
      break;
    case '?':
    case 'h':
      state.mode = TopMode::help;
      state.page_line = 0;
      break;
    case 'j':
      move_selection(state, 1);
      break;
    case 'k':
      move_selection(state, -1);
      break;
    case 's':
    case '>':
      sort_by(state, state.order + 1);
      break;
    case '<':
      sort_by(state, state.order + kTopOrders.size() - 1);
      break;
    case 'r':
      state.is_descending = !state.is_descending;
      break;
    case '/':
      state.mode = TopMode::filter;
      state.input = state.filter;
      break;
    case ' ':
      state.is_frozen = !state.is_frozen;
      say(state, state.is_frozen ? "the view is frozen; Space continues it" : "");
      break;
    case 'p':
      return toggle_pause(state);
    case 'P':
      if (commanded_row(state) == nullptr) break;
      state.mode = TopMode::pin;
      state.input.clear();
      break;
    case 'u':
      return unpin(state);
    case 'e':
      return show_details(state);
    default:
      say(state, "no such key; ? lists the keys", true);
      break;
  }
  return action;
}

TopAction take_key_in_rows(TopState& state, const TopKey& key) {
  const auto page = static_cast<std::ptrdiff_t>(state.page_rows);
  const auto all = static_cast<std::ptrdiff_t>(state.view.rows.size() + state.elsewhere.size());
  say(state, "");
  switch (key.kind) {
    case TopKey::Kind::character:
      return take_letter(state, key.character);
    case TopKey::Kind::up:
      move_selection(state, -1);
      break;
    case TopKey::Kind::down:
      move_selection(state, 1);
      break;
    case TopKey::Kind::page_up:
      move_selection(state, -page);
      break;
    case TopKey::Kind::page_down:
      move_selection(state, page);
      break;
    case TopKey::Kind::first:
      move_selection(state, -all);
      break;
    case TopKey::Kind::last:
      move_selection(state, all);
      break;
    case TopKey::Kind::enter:
      return show_details(state);
    case TopKey::Kind::escape:
      state.filter.clear();
      break;
    case TopKey::Kind::backspace:
    case TopKey::Kind::redraw:
      break;
  }
  return {};
}

TopAction take_key_in_page(TopState& state, const TopKey& key) {
  const auto scroll = [&state](std::ptrdiff_t by) {
    const auto line = static_cast<std::ptrdiff_t>(state.page_line) + by;
    state.page_line = static_cast<std::size_t>(std::max<std::ptrdiff_t>(line, 0));
  };
  const auto page = static_cast<std::ptrdiff_t>(state.page_rows);
  switch (key.kind) {
    case TopKey::Kind::up:
      scroll(-1);
      break;
    case TopKey::Kind::down:
      scroll(1);
      break;
    case TopKey::Kind::page_up:
      scroll(-page);
      break;
    case TopKey::Kind::page_down:
      scroll(page);
      break;
    case TopKey::Kind::first:
      state.page_line = 0;
      break;
    case TopKey::Kind::last:
      state.page_line = SIZE_MAX;
      break;
    case TopKey::Kind::character:
      if (key.character == 'j' || key.character == 'k') {
        scroll(key.character == 'j' ? 1 : -1);
        break;
      }
      [[fallthrough]];
    case TopKey::Kind::enter:
    case TopKey::Kind::escape:
    case TopKey::Kind::backspace:
      state.mode = TopMode::rows;
      break;
    case TopKey::Kind::redraw:
      break;
  }
  return {};
}

// The selection goes to a row that is shown.
void keep_selection_shown(TopState& state) {
  const std::vector<const TopRow*> rows = visible_rows(state);
  if (position_of(rows, state.selected) == rows.size()) select(state, rows, 0);
}

TopAction take_key_in_input(TopState& state, const TopKey& key) {
  const TopMode mode = state.mode;
  say(state, "");
  switch (key.kind) {
    case TopKey::Kind::character:
      if (state.input.size() < kMostInput) state.input += key.character;
      break;
    case TopKey::Kind::backspace:
      if (!state.input.empty()) state.input.pop_back();
      break;
    case TopKey::Kind::escape:
      state.mode = TopMode::rows;
      if (mode == TopMode::filter) state.filter.clear();
      return {};
    case TopKey::Kind::enter: {
      const TopAction action = mode == TopMode::pin ? pin(state) : TopAction();
      // What was wrong can be put right.
      if (!state.is_message_bad) state.mode = TopMode::rows;
      return action;
    }
    default:
      break;
  }
  if (mode == TopMode::filter) {
    state.filter = state.input;
    keep_selection_shown(state);
  }
  return {};
}

}  // namespace

std::vector<const TopRow*> visible_rows(const TopState& state) {
  const std::string filter = lower(state.filter);
  std::vector<const TopRow*> rows;
  for (const std::vector<TopRow>* all : {&state.view.rows, &state.elsewhere}) {
    for (const TopRow& row : *all) {
      if (is_let_through(row, filter)) rows.push_back(&row);
    }
  }
  const std::string_view order = kTopOrders[state.order].name;
  if (order == "arrival") {
    if (state.is_descending) std::reverse(rows.begin(), rows.end());
    return rows;
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const TopRow* a, const TopRow* b) {
    return compare(*a, *b, order, state.is_descending) < 0;
  });
  return rows;
}

const TopRow* selected_row(const TopState& state) {
  const std::vector<const TopRow*> rows = visible_rows(state);
  const std::size_t position = position_of(rows, state.selected);
  return position < rows.size() ? rows[position] : nullptr;
}

void take_view(TopState& state, TopView view, double now) {
  if (state.is_frozen) return;
  const std::size_t position = position_of(visible_rows(state), state.selected);
  state.view = std::move(view);
  state.now = now;
  const std::vector<const TopRow*> rows = visible_rows(state);
  // Where one container is asked about it stays that one, or is gone.
  if (state.mode == TopMode::pin || state.mode == TopMode::details) return;
  if (position_of(rows, state.selected) == rows.size()) select(state, rows, position);
}

TopAction take_key(TopState& state, const TopKey& key) {
  if (key.kind == TopKey::Kind::redraw) {
    TopAction action;
    action.kind = TopAction::Kind::redraw;
    return action;
  }
  switch (state.mode) {
    case TopMode::filter:
    case TopMode::pin:
      return take_key_in_input(state, key);
    case TopMode::help:
    case TopMode::details:
      if (key.kind == TopKey::Kind::character && key.character == 'q') {
        state.mode = TopMode::rows;
        return {};
      }
      return take_key_in_page(state, key);
    case TopMode::rows:
      break;
  }
  return take_key_in_rows(state, key);
}

}  // namespace flowcon::plugin
