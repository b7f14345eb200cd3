// SPDX-License-Identifier: Apache-2.0
// SpeCon's categories of one host's containers (Algorithm 3). A pure function: no clock, no I/O, no
// logging. The daemon, flowcon-sim and the simulator call this very one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/policy/category.h"

namespace flowcon::cluster::policy {

/// One container as it is categorised.
/// Units: value and previous_value in the metric's own unit (or normalised, then so is alpha), one
/// categorisation interval apart; previous_growth as the growth of the last round. Empty, or not
/// finite: not measured.
struct ObservedContainer {
  std::string id;
  Category category = Category::pc;
  std::optional<double> value;
  std::optional<double> previous_value;
  std::optional<double> previous_growth;
  bool migrated = false;  ///< has had its one migration: keeps its category
};

/// What Algorithm 3 decides from: the containers of one host. Units: alpha in units of value per
/// categorisation interval.
struct CategoriseState {
  static constexpr const char* kAlgorithm = "categorise";

  double alpha = 0.01;
  std::vector<ObservedContainer> containers;
};

/// A container's category after a round, and G = |value - previous_value|: empty where one of them
/// is not measured.
struct CategorisedContainer {
  std::string id;
  Category category = Category::pc;
  std::optional<double> growth;
};

struct CategoriseDecision {
  std::vector<CategorisedContainer> containers;  ///< in the order of the state
  /// Converged containers that want to move, in the order of the state. Empty where none but
  /// they would gain: with at most one container in PC and WC there is nobody to make room for.
  std::vector<std::string> requests;
};

/// One round of Algorithm 3. A container moves by at most one category towards CC a round, and only
/// while it slows further; growth above alpha brings it back to PC at once. O(containers).
/// Source: SpeCon, Algorithm 3; lines 10-12 are a misprint, the text's WC to CC holds.
[[nodiscard]] CategoriseDecision decide_categorise(const CategoriseState& state);

/// How many containers are in each category, migrated ones too: what a host tells its peers.
[[nodiscard]] Counts count_categories(const std::vector<CategorisedContainer>& containers);

}  // namespace flowcon::cluster::policy
