// SPDX-License-Identifier: Apache-2.0
// A plan for a batch, a node for each of its tasks, and what can be done with it: put a task,
// dissolve a node, tell what it is worth. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cluster/policy/place_model.h"

namespace flowcon::cluster::policy {

struct GroupPlan {
  std::vector<std::uint32_t> node_of;  ///< by task; kNowhere where it is on none
  std::vector<std::uint32_t> groups;   ///< the nodes that have tasks, in the plan's order
  std::vector<double> put;             ///< a row of kinds a node
  double score = 0;                    ///< the sum over the jobs
  double fitness = 0;                  ///< −score − nodes that have tasks (Liquid, 8)
};

/// Plans for the first `jobs` jobs of a model, which must outlive it.
class Planner {
 public:
  static constexpr std::uint32_t kNowhere = static_cast<std::uint32_t>(-1);

  Planner(const PlaceModel& model, std::size_t jobs);

  [[nodiscard]] const PlaceModel& model() const { return model_; }
  [[nodiscard]] std::size_t jobs() const { return jobs_; }
  [[nodiscard]] std::size_t nodes() const { return model_.nodes.size(); }
  [[nodiscard]] const std::vector<std::uint32_t>& tasks() const { return tasks_; }

  [[nodiscard]] GroupPlan empty_plan() const;
  /// Is there room, and is no other task of its job in another domain?
  [[nodiscard]] bool may_put(const GroupPlan& plan, std::uint32_t task, std::uint32_t node) const;
  void put(GroupPlan& plan, std::uint32_t task, std::uint32_t node) const;
  /// Takes all tasks off a node and adds them to `loose`.
  void dissolve(GroupPlan& plan, std::uint32_t node, std::vector<std::uint32_t>& loose) const;
  /// Each on the first node with room, of the plan's in its order, then of the others as listed,
  /// but not on `avoided`. False where one finds none.
  [[nodiscard]] bool first_fit(GroupPlan& plan, const std::vector<std::uint32_t>& loose,
                               std::uint32_t avoided) const;
  /// What a node has, summed anew in the order of the tasks. False where that is too much.
  [[nodiscard]] bool sum_up(GroupPlan& plan, std::uint32_t node) const;
  /// Sets score and fitness of a plan without loose tasks.
  void evaluate(GroupPlan& plan);

  /// Looks at nodes and tasks so far: work, counted alike on every machine.
  [[nodiscard]] std::int64_t looks() const { return looks_; }
  void count(std::size_t looks) const { looks_ += static_cast<std::int64_t>(looks); }

 private:
  /// Parameter servers and workers of the job that is looked at.
  struct Roles {
    double ps = 0;
    double workers = 0;
  };

  [[nodiscard]] double link_cost(std::size_t job, std::uint32_t node, bool is_ps) const;

  const PlaceModel& model_;
  std::size_t jobs_ = 0;
  std::vector<std::uint32_t> tasks_;  // of these jobs, as listed
  mutable std::int64_t looks_ = 0;
  // Of evaluate().
  std::vector<double> gpus_;  // put on each node
  std::vector<Roles> on_node_;
  std::vector<Roles> in_rack_;
  std::vector<std::uint32_t> own_nodes_;  // of the job so far
};

}  // namespace flowcon::cluster::policy
