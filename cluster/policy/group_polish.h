// SPDX-License-Identifier: Apache-2.0
// Betters a plan for a batch by moving one task or swapping two while that helps. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "cluster/policy/group_plan.h"

namespace flowcon::cluster::policy {

class Polish {
 public:
  /// The planner must outlive it. `most_looks`: the planner's count at which it ends.
  Polish(Planner& planner, std::int64_t most_looks);

  /// The plan, evaluated, afterwards: no single move or swap betters it by more than 1e-9.
  void better(GroupPlan& plan);
  /// Moves and swaps of tasks by chance, where there is room, for better or worse.
  void shake(GroupPlan& plan, int tries, Random& random);

 private:
  /// What follows if one task goes to another node.
  struct Shift {
    double cost = 0;
    bool leaves = true;  ///< its job has no other task on its node
    bool enters = true;  ///< nor on the other one
  };

  bool try_moves(std::uint32_t task);
  bool try_swaps(std::size_t from);
  [[nodiscard]] bool may_go(std::uint32_t task, std::uint32_t node) const;
  [[nodiscard]] bool may_swap(std::uint32_t a, std::uint32_t b);
  [[nodiscard]] bool fits_instead(std::uint32_t task, std::uint32_t other);
  [[nodiscard]] double gain_of_move(std::uint32_t task, std::uint32_t node) const;
  [[nodiscard]] double gain_of_swap(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] Shift shift(std::uint32_t task, std::uint32_t to, std::uint32_t except) const;
  [[nodiscard]] double value(std::uint32_t node, double jobs, double gpus) const;
  bool relocate(std::uint32_t a, std::uint32_t to, std::uint32_t b);
  void tally();

  Planner& planner_;
  const PlaceModel& model_;
  std::int64_t most_looks_ = 0;
  GroupPlan* plan_ = nullptr;
  std::vector<double> gpus_;  // put on each node
  std::vector<double> jobs_;  // that have tasks on each node
  std::vector<std::uint32_t> counts_;
  std::vector<double> row_;
};

}  // namespace flowcon::cluster::policy
