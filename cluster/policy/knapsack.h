// SPDX-License-Identifier: Apache-2.0
// A multiple-choice knapsack: one number of nodes for each job, together no more than there are,
// worth as much as possible. Exact, by dynamic programming over the nodes. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace flowcon::cluster::policy::horizon {

class Knapsack {
 public:
  /// `spare`: nodes beyond the least numbers of all jobs that will be added.
  void reset(int spare);

  /// One more job: its numbers, ascending, which must outlive it, and what each is worth.
  /// O(numbers * spare).
  void add(const std::vector<int>& numbers, const double* worth);

  /// The most that all can be worth with so many nodes beyond their least numbers.
  [[nodiscard]] double best(int spare) const {
    return least_worth_ + best_[static_cast<std::size_t>(spare)];
  }

  /// The choices behind best(spare), in the order of add().
  void choose(int spare, std::vector<std::uint8_t>& choices) const;

 private:
  std::size_t width_ = 1;
  double least_worth_ = 0;
  std::vector<double> best_;           ///< beyond least_worth_, by nodes
  std::vector<double> before_;         ///< without the last job
  std::vector<std::uint8_t> choices_;  ///< width_ of each job
  std::vector<const std::vector<int>*> numbers_;
};

}  // namespace flowcon::cluster::policy::horizon
