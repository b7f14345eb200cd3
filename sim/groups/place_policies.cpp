// SPDX-License-Identifier: Apache-2.0
#include "sim/groups/place_policies.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/random.h"
#include "cluster/policy/place.h"
#include "sim/groups/tasks.h"

namespace flowcon::sim::groups {
namespace {

using cluster::policy::amount_of;
using cluster::policy::PlaceDecision;
using cluster::policy::PlaceMode;
using cluster::policy::PlaceState;
using cluster::policy::TaskPlace;
using cluster::policy::TaskRole;

bool waits(const KnownJob& job) { return job.placed.ps.empty() && job.placed.workers.empty(); }

// A job of fixed size, task after task; whatever chooses the nodes.
class TaskByTask : public GroupPolicy {
 public:
  GroupPlan decide(const GroupView& view) override {
    GroupPlan plan;
    std::vector<PlaceNode> nodes = view.nodes;
    for (const KnownJob& job : view.jobs) {
      if (!waits(job)) continue;
      std::vector<PlaceNode> before = nodes;
      Placement placed;
      bool has_room = true;
      for (std::int64_t i = 0; has_room && i < job.ps + job.max; ++i) {
        const Amounts& request = i < job.ps ? *job.ps_request : *job.worker_request;
        const std::vector<std::size_t> fitting = fitting_nodes(nodes, request);
        has_room = !fitting.empty();
        if (!has_room) break;
        const std::size_t node = choose(fitting, nodes, placed);
        use(nodes[node], request);
        put_one(i < job.ps ? placed.ps : placed.workers, node);
      }
      if (!has_room) break;
      plan.changes.push_back({job.number, std::move(placed)});
    }
    return plan;
  }

 protected:
  [[nodiscard]] virtual std::size_t choose(const std::vector<std::size_t>& fitting,
                                           const std::vector<PlaceNode>& nodes,
                                           const Placement& placed) = 0;
};

class RandomNodes : public TaskByTask {
 public:
  explicit RandomNodes(std::uint64_t seed) : random_(mix(seed, 0x7a9d)) {}

 protected:
  std::size_t choose(const std::vector<std::size_t>& fitting, const std::vector<PlaceNode>&,
                     const Placement&) override {
    return fitting[random_.below(fitting.size())];
  }

 private:
  Random random_;
};

std::int64_t tasks_on(const Placement& placed, std::size_t node) {
  return count_on(placed.ps, node) + count_on(placed.workers, node);
}

class EvenNodes : public TaskByTask {
 protected:
  std::size_t choose(const std::vector<std::size_t>& fitting, const std::vector<PlaceNode>& nodes,
                     const Placement& placed) override {
    return *std::min_element(fitting.begin(), fitting.end(), [&](std::size_t a, std::size_t b) {
      return std::make_tuple(tasks_on(placed, a), amount_of(nodes[a].used, "gpu")) <
             std::make_tuple(tasks_on(placed, b), amount_of(nodes[b].used, "gpu"));
    });
  }
};

double use_of(const PlaceNode& node, const char* kind) {
  const double cap = amount_of(node.cap, kind);
  return cap > 0 ? amount_of(node.used, kind) / cap : 0;
}

class LeastLoaded : public TaskByTask {
 protected:
  std::size_t choose(const std::vector<std::size_t>& fitting, const std::vector<PlaceNode>& nodes,
                     const Placement&) override {
    return *std::min_element(fitting.begin(), fitting.end(), [&](std::size_t a, std::size_t b) {
      return std::make_tuple(use_of(nodes[a], "gpu"), use_of(nodes[a], "cpu")) <
             std::make_tuple(use_of(nodes[b], "gpu"), use_of(nodes[b], "cpu"));
    });
  }
};

// Fewer than all amounts of all nodes together, so that what cannot fit is not searched for.
std::size_t count_that_may_fit(const GroupView& view, const std::vector<const KnownJob*>& waiting) {
  std::map<std::string_view, double> idle;
  for (const PlaceNode& node : view.nodes) {
    for (const auto& [kind, amount] : node.cap) idle[kind] += amount;
    for (const auto& [kind, amount] : node.used) idle[kind] -= amount;
  }
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const KnownJob& job = *waiting[i];
    for (const auto& [kind, amount] : *job.ps_request) {
      idle[kind] -= static_cast<double>(job.ps) * amount;
    }
    for (const auto& [kind, amount] : *job.worker_request) {
      idle[kind] -= static_cast<double>(job.max) * amount;
    }
    if (std::any_of(idle.begin(), idle.end(), [](const auto& each) { return each.second < -1e-6; }))
      return i;
  }
  return waiting.size();
}

class Liquid : public GroupPolicy {
 public:
  Liquid(PlaceMode mode, bool is_seeded, std::uint64_t seed) : seed_(seed) {
    state_.mode = mode;
    state_.seeded = is_seeded;
  }

  GroupPlan decide(const GroupView& view) override {
    std::vector<const KnownJob*> waiting;
    for (const KnownJob& job : view.jobs) {
      if (waits(job)) waiting.push_back(&job);
    }
    waiting.resize(count_that_may_fit(view, waiting));
    state_.nodes = view.nodes;
    state_.tasks.clear();
    state_.seed = mix(seed_, ++rounds_);
    for (std::size_t i = 0; i < waiting.size(); ++i) add_tasks(*waiting[i], i);
    const Result<PlaceDecision> decision = decide_place(state_);
    if (!decision) return {};
    std::size_t served = waiting.size();
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      const auto& unplaced = decision->unplaced;
      if (std::find(unplaced.begin(), unplaced.end(), waiting[i]->id) != unplaced.end()) {
        served = std::min(served, i);
      }
    }
    GroupPlan plan;
    for (std::size_t i = 0; i < served; ++i) plan.changes.push_back({waiting[i]->number, {}});
    std::map<std::string_view, std::size_t> numbers;
    for (std::size_t i = 0; i < view.nodes.size(); ++i) numbers[view.nodes[i].id] = i;
    for (const TaskPlace& place : decision->placement) {
      const auto& [job, role] = tasks_.at(place.task);
      if (job >= served) continue;
      Placement& placed = plan.changes[job].placed;
      put_one(role == TaskRole::ps ? placed.ps : placed.workers, numbers.at(place.node));
    }
    return plan;
  }

 private:
  void add_tasks(const KnownJob& job, std::size_t place) {
    for (std::int64_t i = 0; i < job.ps + job.max; ++i) {
      const TaskRole role = i < job.ps ? TaskRole::ps : TaskRole::worker;
      const std::string id = std::string(job.id) + '/' + std::to_string(i);
      state_.tasks.push_back({id, std::string(job.id), role,
                              role == TaskRole::ps ? *job.ps_request : *job.worker_request});
      tasks_[id] = {place, role};
    }
  }

  PlaceState state_;
  std::map<std::string, std::pair<std::size_t, TaskRole>> tasks_;
  std::uint64_t seed_;
  std::uint64_t rounds_ = 0;
};

}  // namespace

std::unique_ptr<GroupPolicy> make_random(std::uint64_t seed) {
  return std::make_unique<RandomNodes>(seed);
}

std::unique_ptr<GroupPolicy> make_even(std::uint64_t /*seed*/) {
  return std::make_unique<EvenNodes>();
}

std::unique_ptr<GroupPolicy> make_least_loaded(std::uint64_t /*seed*/) {
  return std::make_unique<LeastLoaded>();
}

std::unique_ptr<GroupPolicy> make_best_fit(std::uint64_t seed) {
  return std::make_unique<Liquid>(PlaceMode::immediate, false, seed);
}

std::unique_ptr<GroupPolicy> make_seeded(std::uint64_t seed) {
  return std::make_unique<Liquid>(PlaceMode::immediate, true, seed);
}

std::unique_ptr<GroupPolicy> make_genetic(std::uint64_t seed) {
  return std::make_unique<Liquid>(PlaceMode::batch, false, seed);
}

}  // namespace flowcon::sim::groups
