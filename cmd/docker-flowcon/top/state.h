// SPDX-License-Identifier: Apache-2.0
// The model of `docker flowcon top`, without terminal and flowcond: the state, the effect of keys
// on it, the resulting requests. Pure.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/docker-flowcon/top/rows.h"

namespace flowcon::plugin {

/// A column that rows can be sorted by; `name` is the value of --sort.
struct TopOrder {
  std::string_view name;
  bool is_descending;  ///< at first
};

/// In the order in which the key `s` goes through them.
inline constexpr std::array<TopOrder, 9> kTopOrders{{{"arrival", false},
                                                     {"name", false},
                                                     {"list", false},
                                                     {"limit", true},
                                                     {"cpu", true},
                                                     {"memory", true},
                                                     {"io", true},
                                                     {"growth", true},
                                                     {"host", false}}};

struct TopKey {
  enum class Kind {
    character,
    up,
    down,
    page_up,
    page_down,
    first,
    last,
    enter,
    escape,
    backspace,
    redraw
  };
  Kind kind = Kind::character;
  char character = 0;  ///< ASCII
};

/// The mode: the rows, an input line below them, or a page in their place.
enum class TopMode { rows, filter, pin, help, details };

struct TopState {
  TopView view;                   ///< of the last update
  std::vector<TopRow> elsewhere;  ///< on other hosts
  std::string problem;            ///< why flowcond does not answer; "" = it does
  double now = 0;                 ///< of the last update, seconds since the epoch

  std::size_t order = 0;  ///< in kTopOrders
  bool is_descending = false;
  std::string filter;
  std::string selected;  ///< id; "" = none yet
  bool is_frozen = false;
  TopMode mode = TopMode::rows;
  std::string input;    ///< the text typed in filter and pin
  std::string message;  ///< result or error of the last action
  bool is_message_bad = false;
  std::vector<std::string> decisions;  ///< of the selected one, newest first
  std::size_t first_row = 0;           ///< first one shown of the rows
  std::size_t page_line = 0;           ///< first one shown of a page
  std::size_t page_rows = 20;          ///< step of a page key
};

/// The request of a key, besides its effect on the state.
struct TopAction {
  enum class Kind { none, quit, redraw, post, explain };
  Kind kind = Kind::none;
  std::string id;       ///< of a container
  std::string verb;     ///< post: pause, resume, pin, unpin
  std::string body;     ///< post: JSON
  std::string success;  ///< post: a sentence for the success
};

/// The rows that pass the filter, in order.
[[nodiscard]] std::vector<const TopRow*> visible_rows(const TopState& state);

/// The selected row; null where there is none.
[[nodiscard]] const TopRow* selected_row(const TopState& state);

/// Takes an update that arrived at `now`, unless the state is frozen. The selection stays on its
/// container; if that is gone, it goes to the container now in its place.
void take_view(TopState& state, TopView view, double now);

/// Handles a key.
[[nodiscard]] TopAction take_key(TopState& state, const TopKey& key);

}  // namespace flowcon::plugin
