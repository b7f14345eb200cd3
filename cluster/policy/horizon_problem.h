// SPDX-License-Identifier: Apache-2.0
// What the search of horizon_core.h is done on: the jobs of the core with the responses that are
// still possible, and for each of them what those behind it and all others can have at most. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cluster/policy/horizon_bound.h"
#include "cluster/policy/horizon_model.h"
#include "cluster/policy/horizon_usage.h"
#include "cluster/policy/knapsack.h"

namespace flowcon::cluster::policy::horizon {

/// One job of the core.
struct Member {
  std::size_t job = 0;
  double best = 0;              ///< value less price of its best response
  std::vector<Column> columns;  ///< least loss first
  std::vector<Usage> usages;    ///< of each column
  Usage most{};                 ///< used with it: the jobs behind it need the others at least
  double best_behind = 0;       ///< value less price of the best responses behind it
  /// Step by step and by nodes used with it: value of what the others can have, and price of what
  /// those behind it can use.
  std::vector<double> hope;
};

class Problem {
 public:
  /// `is_member`: of each job, whether it is in the core; at least one is. `value`: of a plan; what
  /// is worth less is of no interest.
  Problem(const Model& model, const Dual& dual, const std::vector<std::uint8_t>& is_member,
          double value);

  [[nodiscard]] const std::vector<Member>& members() const { return members_; }
  [[nodiscard]] const std::vector<std::size_t>& others() const { return others_; }
  [[nodiscard]] const UsageFields& fields() const { return fields_; }

  /// No plan has more; less than that of the dual where the core is small.
  [[nodiscard]] double bound() const { return bound_; }
  [[nodiscard]] double most_loss() const { return most_loss_; }
  /// False: so many columns that some are missing, and a search through the others proves nothing.
  [[nodiscard]] bool has_all_columns() const { return has_all_columns_; }
  [[nodiscard]] std::int64_t work() const { return work_; }

  /// No plan has more of those that use so much with member m and the ones before it, which have
  /// `value` together.
  [[nodiscard]] double hope(std::size_t m, const Usage& usage, double value) const;

  /// What the others choose in that step from what the core leaves them.
  void choose_others(int step, const Usage& usage, std::vector<Choice>& choices) const;

 private:
  void divide(const std::vector<std::uint8_t>& is_member);
  void price();
  void list_columns();
  void look_ahead();
  void fill_hope(Member& member, const std::vector<std::uint8_t>& sums);

  const Model& model_;
  const Dual& dual_;
  UsageFields fields_;
  Responder responder_;
  std::vector<Member> members_;
  std::vector<std::size_t> others_;
  Knapsack rest_;                ///< of the others, in one step
  int rest_least_ = 0;           ///< their least numbers
  int rest_spare_ = 0;           ///< most nodes beyond
  std::vector<double> ceiling_;  ///< in each step: most that the others win beyond price
  double bound_ = 0;
  double most_loss_ = 0;
  bool has_all_columns_ = true;
  std::int64_t work_ = 0;
};

}  // namespace flowcon::cluster::policy::horizon
