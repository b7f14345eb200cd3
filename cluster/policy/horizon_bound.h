// SPDX-License-Identifier: Apache-2.0
// What no plan can have more than: the Lagrangian dual of the nodes in each step. A node has a
// price in each step, and each job responds to the prices by itself. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cluster/policy/horizon_model.h"

namespace flowcon::cluster::policy::horizon {

/// One job's choices in all steps.
struct Column {
  std::vector<Choice> choices;
  double value = 0;
  double loss = 0;  ///< value less price, how much below that of the best response
};

/// Responses to prices, searched depth first over the steps; no further where an endless job could
/// not make up for it.
class Responder {
 public:
  /// `model` and `prices` must outlive it.
  Responder(const Model& model, const std::vector<double>& prices);

  /// Value less price of the best response, or more where the search was cut off, never less.
  /// `choices`: any response; then the best one found.
  double best(const Job& job, Choice* choices);

  /// All responses that lose at most `most_loss` against `best`, least loss first. False: some are
  /// missing, since there are too many or the search was cut off.
  bool all(const Job& job, double best, double most_loss, std::vector<Column>& columns);

  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  struct Search;
  void look_ahead(const Job& job);
  void descend(Search& search, int step, double served, double value, int before);
  void end(Search& search, int step, double total) const;

  const Model& model_;
  const std::vector<double>& prices_;
  std::vector<double> hope_;   ///< from each step on: most that an endless job wins beyond price
  std::vector<double> least_;  ///< from each step on: price of the least number
  std::int64_t most_visits_ = 0;
  std::int64_t work_ = 0;
};

struct Dual {
  double bound = 0;
  std::vector<double> prices;  ///< of a node in each step
};

/// The least bound found, and its prices. `value` is that of a plan: less there cannot be.
[[nodiscard]] Dual solve_dual(const Model& model, double value);

}  // namespace flowcon::cluster::policy::horizon
