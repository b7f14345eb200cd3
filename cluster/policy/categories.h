// SPDX-License-Identifier: Apache-2.0
// What is remembered of each container of a host from round to round, whatever the policy between
// hosts: its category, since when, whether it has had its migration and its rebalancing, and how
// often it was moved. Pure: values and times are handed in.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/policy/categorise.h"

namespace flowcon::cluster::policy {

/// More moves than a container ever has.
inline constexpr std::uint32_t kMostMoves = 1'000'000;

/// Units: times in seconds on the steady clock of this process, value and growth as in
/// ObservedContainer.
struct CategoryState {
  Category category = Category::pc;
  std::optional<double> value;      ///< at the last round that saw it
  std::optional<double> growth;     ///< of that round
  double seen = 0;                  ///< when that was
  std::optional<double> converged;  ///< in CC since then
  /// When it had its one migration, also where Algorithm 4 let it stay.
  std::optional<double> migrated;
  bool rebalanced = false;  ///< has had its one rebalancing
  std::uint32_t moves = 0;  ///< how often a policy moved it
};

/// A container's last value at a round; empty where there is none.
struct Observed {
  std::string id;
  std::optional<double> value;
};

/// One round of Algorithm 3 and what came of it.
struct CategoryRound {
  CategoriseState state;
  CategoriseDecision decision;
  bool is_news = false;  ///< a category changed, or somebody wants to move
};

class Categories {
 public:
  /// Containers that are gone are remembered so long, in seconds: they may be started again, or
  /// their state be asked for by a move.
  static constexpr double kKept = 86400;

  /// One round over all containers there are now. One that is new, or that the last round, at most
  /// one and a half intervals ago, did not see has no value from before and stays where it is.
  /// Units: seconds for `now` and `interval`.
  [[nodiscard]] CategoryRound take_round(const std::vector<Observed>& containers, double alpha,
                                         double now, double interval);

  /// `ids` by category; one that no round has seen is in PC.
  [[nodiscard]] Counts count(const std::vector<std::string>& ids) const;
  /// Null where nothing is known of it.
  [[nodiscard]] const CategoryState* find(const std::string& id) const;
  void mark_migrated(const std::string& id, double now);

  void put(const std::string& id, const CategoryState& state) { states_[id] = state; }
  void forget(const std::string& id) { states_.erase(id); }
  /// Forgets containers not seen for kKept; returns their ids.
  [[nodiscard]] std::vector<std::string> forget_old(double now);

 private:
  std::map<std::string, CategoryState> states_;
};

}  // namespace flowcon::cluster::policy
