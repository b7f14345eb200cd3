// SPDX-License-Identifier: Apache-2.0
// `docker flowcon top` without a terminal and without flowcond: what is shown, what a key does to
// it, what is to be asked of flowcond then. Pure.
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

/// What is in front: the rows, an input line below them, or a page in their place.
enum class TopMode { rows, filter, pin, help, details };

struct TopState {
  TopView view;                   ///< of the last look
  std::vector<TopRow> elsewhere;  ///< on other hosts
  std::string problem;            ///< why flowcond does not answer; "" = it does
  double now = 0;                 ///< of the last look, seconds since the epoch

  std::size_t order = 0;  ///< in kTopOrders
  bool is_descending = false;
  std::string filter;
  std::string selected;  ///< id; "" = none yet
  bool is_frozen = false;
  TopMode mode = TopMode::rows;
  std::string input;    ///< what is typed in filter and pin
  std::string message;  ///< the last that was done, or that went wrong
  bool is_message_bad = false;
  std::vector<std::string> decisions;  ///< of the selected one, newest first
  std::size_t first_row = 0;           ///< first one shown of the rows
  std::size_t page_line = 0;           ///< first one shown of a page
  std::size_t page_rows = 20;          ///< how far a page key goes
};

/// What a key asks for besides what it does to the state.
struct TopAction {
  enum class Kind { none, quit, redraw, post, explain };
  Kind kind = Kind::none;
  std::string id;       ///< of a container
  std::string verb;     ///< post: pause, resume, pin, unpin
  std::string body;     ///< post: JSON
  std::string success;  ///< post: a sentence for when it is done
};

/// The rows that the filter lets through, in order.
[[nodiscard]] std::vector<const TopRow*> visible_rows(const TopState& state);

/// The selected row; null where there is none.
[[nodiscard]] const TopRow* selected_row(const TopState& state);

/// A look that arrived at `now`: taken unless the state is frozen. The selection stays on its
/// container; where that is gone it goes to the one that has its place.
void take_view(TopState& state, TopView view, double now);

/// What a key does.
[[nodiscard]] TopAction take_key(TopState& state, const TopKey& key);

}  // namespace flowcon::plugin
