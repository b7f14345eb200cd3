// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/rebalance.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace flowcon::cluster::policy {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

// How long ago it settled, in seconds; empty where it is not a candidate.
std::optional<double> age_of(const SettledContainer& container, double now) {
  if (container.rebalanced) return std::nullopt;
  for (const std::optional<double>& at : {container.converged_at, container.migrated_at}) {
    if (!at || !std::isfinite(*at)) continue;
    const double age = now - *at;
    if (!std::isnan(age)) return age;
  }
  return std::nullopt;
}

// Numbers in a row; finds the first that is large enough in logarithmic time (a tournament tree).
class FirstAtLeast {
 public:
  explicit FirstAtLeast(std::size_t size) : leaves_(std::bit_ceil(std::max<std::size_t>(size, 1))) {
    tree_.assign(2 * leaves_, -1);
  }

  void set(std::size_t place, std::int64_t number) {
    std::size_t at = leaves_ + place;
    tree_[at] = number;
    for (at /= 2; at > 0; at /= 2) tree_[at] = std::max(tree_[2 * at], tree_[2 * at + 1]);
  }

  [[nodiscard]] std::size_t find(std::int64_t least) const {
    if (tree_[1] < least) return kNone;
    std::size_t at = 1;
    while (at < leaves_) at = tree_[2 * at] >= least ? 2 * at : 2 * at + 1;
    return at - leaves_;
  }

 private:
  std::size_t leaves_;
  std::vector<std::int64_t> tree_;  // -1: nothing there
};

struct Candidate {
  double age = 0;
  std::size_t worker = 0;
  const SettledContainer* container = nullptr;
  std::size_t next = kNone;  // the worker's next one, by rank
};

// The candidates, youngest first. Of each worker only the youngest one left stands in the tree,
// with the worker's count: a move changes two places, not all of the worker's candidates.
class Candidates {
 public:
  Candidates(const RebalanceState& state, const std::vector<bool>& is_target,
             const std::vector<std::int64_t>& counts)
      : ranked_(ranked(state, is_target)), tree_(ranked_.size()) {
    std::vector<std::size_t> first(state.workers.size(), kNone);
    for (std::size_t rank = ranked_.size(); rank-- > 0;) {
      Candidate& candidate = ranked_[rank];
      candidate.next = first[candidate.worker];
      first[candidate.worker] = rank;
    }
    for (std::size_t worker = 0; worker < first.size(); ++worker) {
      if (first[worker] != kNone) tree_.set(first[worker], counts[worker]);
    }
  }

  // The youngest on a worker with at least `least` containers, or nullptr; it is one no longer, and
  // its worker's count is one less.
  const Candidate* take(std::int64_t least, std::vector<std::int64_t>& counts) {
    const std::size_t rank = tree_.find(least);
    if (rank == kNone) return nullptr;
    const Candidate& taken = ranked_[rank];
    tree_.set(rank, -1);
    --counts[taken.worker];
    if (taken.next != kNone) tree_.set(taken.next, counts[taken.worker]);
    return &taken;
  }

 private:
  static std::vector<Candidate> ranked(const RebalanceState& state,
                                       const std::vector<bool>& is_target) {
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < state.workers.size(); ++i) {
      if (is_target[i]) continue;
      for (const SettledContainer& container : state.workers[i].containers) {
        if (const auto age = age_of(container, state.now)) {
          candidates.push_back({*age, i, &container, kNone});
        }
      }
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.age < b.age; });
    return candidates;
  }

  std::vector<Candidate> ranked_;
  FirstAtLeast tree_;
};

std::int64_t balance_factor(std::int64_t containers, std::int64_t workers, Rounding rounding) {
  const bool up = rounding == Rounding::ceil && containers % workers != 0;
  return containers / workers + (up ? 1 : 0);
}

}  // namespace

RebalanceDecision decide_rebalance(const RebalanceState& state) {
  RebalanceDecision decision;
  if (state.workers.empty()) return decision;

  std::int64_t containers = 0;
  bool some_idle = false;
  std::vector<std::int64_t> counts;
  counts.reserve(state.workers.size());
  for (const WorkerLoad& worker : state.workers) {
    counts.push_back(static_cast<std::int64_t>(worker.containers.size()));
    containers += counts.back();
    some_idle = some_idle || counts.back() == 0;
  }
  const auto workers = static_cast<std::int64_t>(counts.size());
  decision.balance_factor = balance_factor(containers, workers, state.rounding);
  decision.branch = some_idle ? Branch::idle : Branch::uneven;

  const std::int64_t room = some_idle ? decision.balance_factor : decision.balance_factor - 1;
  std::vector<bool> is_target;
  is_target.reserve(counts.size());
  for (const std::int64_t count : counts) {
    is_target.push_back(some_idle ? count == 0 : count < room);
  }

  Candidates candidates(state, is_target, counts);
  for (std::size_t target = 0; target < counts.size(); ++target) {
    if (!is_target[target]) continue;
    while (counts[target] < room) {
      const std::int64_t least = state.guard ? counts[target] + 2 : 0;
      const Candidate* taken = candidates.take(least, counts);
      if (!taken) break;
      ++counts[target];
      decision.moves.push_back(
          {taken->container->id, state.workers[taken->worker].id, state.workers[target].id});
      if (!state.fill) break;
    }
  }
  return decision;
}

bool is_rebalance_due(const std::vector<Activity>& hosts, bool when_idle) {
  bool all_settled = true;
  bool some_idle = false;
  bool some_busy = false;
  bool some_shared = false;
  for (const Activity& host : hosts) {
    all_settled = all_settled && host.settled >= host.containers;
    some_idle = some_idle || host.containers == 0;
    some_busy = some_busy || host.containers > 0;
    some_shared = some_shared || host.containers >= 2;
  }
  if (all_settled && some_busy) return true;
  return when_idle && some_idle && some_shared;
}

}  // namespace flowcon::cluster::policy
