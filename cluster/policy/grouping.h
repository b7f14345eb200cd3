// SPDX-License-Identifier: Apache-2.0
// Places a batch at once: a grouping genetic algorithm, whose genes are nodes with their tasks
// (Liquid, Fig. 7 to 9). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.h"
#include "cluster/policy/group_plan.h"

namespace flowcon::cluster::policy {

class Grouping {
 public:
  /// Plans for the first `jobs` jobs of a model, which must outlive it. `plans`: as many are tried;
  /// with fewer than PlaceState's, all that it does is less in proportion.
  Grouping(const PlaceModel& model, std::size_t jobs, std::uint64_t seed,
           std::int64_t plans = PlaceState().plans);

  /// A plan, if one is found.
  [[nodiscard]] std::optional<GroupPlan> any();

  /// The best plan found, beginning with `first`, a plan for all these jobs. With no more plans
  /// than the budget all are tried, and it is the best there is.
  [[nodiscard]] GroupPlan best(const GroupPlan& first);

 private:
  [[nodiscard]] bool may_have_room() const;
  [[nodiscard]] bool has_few_plans() const;
  [[nodiscard]] std::optional<GroupPlan> search(bool is_whole);
  void search_on(GroupPlan& plan, std::size_t depth, bool is_whole);
  void start();
  void evolve();
  void finish();
  [[nodiscard]] std::optional<GroupPlan> fitted(bool at_random);
  [[nodiscard]] bool random_fit(GroupPlan& plan, std::uint32_t task);
  [[nodiscard]] std::optional<GroupPlan> crossed(const GroupPlan& from, const GroupPlan& into);
  [[nodiscard]] std::optional<GroupPlan> dissolved(const GroupPlan& from, std::size_t groups);
  [[nodiscard]] std::optional<GroupPlan> without_jobs(const GroupPlan& from, std::size_t jobs);
  [[nodiscard]] std::size_t tournament(bool for_worst);
  void add(GroupPlan plan);
  [[nodiscard]] std::size_t drawn(std::size_t below) { return random_.below(below); }
  template <class Item>
  void shuffle(std::vector<Item>& items);

  // Of a limit that goes with PlaceState's plans.
  [[nodiscard]] std::int64_t part(std::int64_t most) const {
    return most * plans_ / PlaceState().plans;
  }

  const PlaceModel& model_;
  std::int64_t plans_;
  Planner planner_;
  Random random_;
  std::vector<GroupPlan> population_;
  std::vector<std::uint32_t> order_;  // of the tasks in search()
  std::optional<GroupPlan> found_;    // by it
  std::int64_t most_looks_ = 0;       // for it
};

}  // namespace flowcon::cluster::policy
