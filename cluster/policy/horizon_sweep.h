// SPDX-License-Identifier: Apache-2.0
// Plans by going over the steps: with all other steps fixed, one step is a knapsack, and solved
// exactly. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/policy/horizon_model.h"
#include "cluster/policy/knapsack.h"

namespace flowcon::cluster::policy::horizon {

class Sweeper {
 public:
  /// `model` must outlive it.
  explicit Sweeper(const Model& model);

  /// Everybody's least number.
  [[nodiscard]] Plan least() const;

  /// The plan that is best where no job ends and nothing pauses: the same knapsack in every step.
  /// No plan is worth more than `bound`, so where this one is worth that (no cap binds), it is
  /// optimal.
  Plan uncapped(double& bound);

  /// Goes over the steps, from the first one or the last one, until none makes the plan better.
  void sweep(Plan& plan, bool is_backward);

  /// The best plan of three starts: all steps alike, first step first, last step first.
  Plan best_of_starts();

 private:
  [[nodiscard]] bool is_exact() const;
  Plan constant();
  bool improve(Plan& plan, int step);
  void choose();
  void choose_greedily();

  const Model& model_;
  int spare_ = 0;                           ///< nodes beyond the least numbers of all
  std::vector<std::vector<double>> worth_;  ///< of each number of each job, in one step
  std::vector<Choice> chosen_;
  Knapsack knapsack_;
  std::int64_t evaluation_ = 0;  ///< work of filling worth_ once
  std::int64_t work_ = 0;
};

}  // namespace flowcon::cluster::policy::horizon
