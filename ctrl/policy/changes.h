// SPDX-License-Identifier: Apache-2.0
// What a recorded decision changed, container by container. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flowcon::ctrl::policy {

/// Where shares follow ranks, one that moves by less is no change of its own: each newcomer moves
/// all.
constexpr double kLeastShareChange = 0.05;  // of the host

/// One container that is on another list, in another category, at another rank or limit after a
/// decision.
/// Units: limits are shares of the host, growth as the algorithm has it.
struct PlaceChange {
  std::string id;
  /// NL, WL, CL or PC, WC, CC or "rank 2"; "" = the decision is about its host, or it is new to the
  /// ranks.
  std::string from;
  std::string to;
  std::optional<double> from_limit;  ///< empty = it had none
  std::optional<double> limit;
  std::optional<double> growth;
};

// The changes of one round, from its state and its decision as they are recorded. Nothing for what
// is damaged.

/// Containers whose `word` ("list", "category") or limit is another one.
[[nodiscard]] std::vector<PlaceChange> place_changes(const boost::json::value& state,
                                                     const boost::json::value& decision,
                                                     std::string_view word);
/// Containers at another rank, or with another share.
[[nodiscard]] std::vector<PlaceChange> rank_changes(const boost::json::value& state,
                                                    const boost::json::value& decision);
/// Containers that go to another host: "moves":[{"container"}].
[[nodiscard]] std::vector<PlaceChange> move_changes(const boost::json::value& decision);
/// The one of the state, where the decision is "move":true.
[[nodiscard]] std::vector<PlaceChange> request_changes(const boost::json::value& state,
                                                       const boost::json::value& decision);
/// None: the decision is about no container, or a later one says what became of it.
[[nodiscard]] std::vector<PlaceChange> no_changes(const boost::json::value& state,
                                                  const boost::json::value& decision);

}  // namespace flowcon::ctrl::policy
