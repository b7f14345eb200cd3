// SPDX-License-Identifier: Apache-2.0
// What a recorded decision changed, container by container. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flowcon::ctrl {

/// A share that the milestone policy moves by less is no change of its own: each newcomer moves
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

/// The changes of one round, as the store keeps it: the executor's lists and limits, the
/// categories, the milestone policy's ranks and shares, and the moves that speculate, rebalance and
/// balance decided. Nothing for the listener, behind which the executor runs, and for what is
/// damaged.
[[nodiscard]] std::vector<PlaceChange> changes_of(std::string_view algorithm,
                                                  const boost::json::value& state,
                                                  const boost::json::value& decision);

}  // namespace flowcon::ctrl
