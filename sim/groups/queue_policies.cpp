// SPDX-License-Identifier: Apache-2.0
#include "sim/groups/queue_policies.h"

#include <algorithm>
#include <map>
#include <utility>

#include "cluster/policy/affinity.h"
#include "cluster/policy/left_queue.h"
#include "cluster/policy/queue.h"

namespace flowcon::sim::groups {
namespace {

using cluster::policy::Gang;
using cluster::policy::LeftDecision;
using cluster::policy::LeftJob;
using cluster::policy::LeftPlace;
using cluster::policy::LeftState;
using cluster::policy::QueueAction;
using cluster::policy::QueueDecision;
using cluster::policy::QueueJob;
using cluster::policy::QueueNode;
using cluster::policy::QueueState;
using cluster::policy::Refusals;
using cluster::policy::Room;

bool waits(const KnownJob& job) { return job.placed.ps.empty() && job.placed.workers.empty(); }

std::vector<QueueNode> nodes_of(const GroupView& view) {
  std::vector<QueueNode> nodes;
  for (const PlaceNode& node : view.nodes) {
    QueueNode idle{node.id, node.cap, node.cap};
    for (auto& [kind, amount] : idle.idle) amount -= cluster::policy::amount_of(node.used, kind);
    nodes.push_back(std::move(idle));
  }
  return nodes;
}

QueueJob job_of(const KnownJob& known) {
  QueueJob job;
  job.id = known.id;
  job.since = known.since;
  job.min = known.min;
  job.max = known.max;
  job.ps = known.ps;
  job.worker_request = *known.worker_request;
  job.ps_request = *known.ps_request;
  job.placed = known.placed;
  return job;
}

// The changes that lead to `placed`, one a job of the view.
GroupPlan plan_for(const GroupView& view, std::map<std::string_view, Placement> placed) {
  GroupPlan plan;
  for (const KnownJob& job : view.jobs) {
    Placement& now = placed[job.id];
    if (now == job.placed) continue;
    plan.changes.push_back({job.number, std::move(now)});
  }
  return plan;
}

class Fifo : public GroupPolicy {
 public:
  GroupPlan decide(const GroupView& view) override {
    std::vector<std::string_view> kinds;
    for (const KnownJob& job : view.jobs) {
      for (const Amounts* request : {job.worker_request, job.ps_request}) {
        for (const auto& [kind, amount] : *request) kinds.emplace_back(kind);
      }
    }
    std::sort(kinds.begin(), kinds.end());
    kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
    const std::vector<QueueNode> nodes = nodes_of(view);
    Room room(nodes, kinds);
    Refusals refusals;
    GroupPlan plan;
    for (const KnownJob& job : view.jobs) {
      if (!waits(job)) continue;
      std::optional<Placement> place;
      Gang gang{room.needs_of(*job.ps_request), room.needs_of(*job.worker_request), job.ps, 0, {}};
      for (gang.workers = job.max; !place && gang.workers >= job.min; --gang.workers) {
        gang.whole = whole_of(gang, room.kinds());
        place = find_place(room, gang, refusals);
      }
      if (!place) break;
      for (const NodeCount& here : place->ps) room.take(here.node, gang.ps_needs, here.count);
      for (const NodeCount& here : place->workers) {
        room.take(here.node, gang.worker_needs, here.count);
      }
      plan.changes.push_back({job.number, std::move(*place)});
    }
    return plan;
  }
};

class Kod2 : public GroupPolicy {
 public:
  explicit Kod2(bool repeats) : repeats_(repeats) {}

  GroupPlan decide(const GroupView& view) override {
    QueueState state;
    state.now = view.now;
    state.starve_limit = view.starve_limit;
    state.prune = repeats_;
    state.repeat = repeats_;
    state.nodes = nodes_of(view);
    for (const KnownJob& known : view.jobs) {
      QueueJob job = job_of(known);
      const auto weight = weights_.find(job.id);
      if (weight == weights_.end()) {
        state.arriving.push_back(std::move(job));
        continue;
      }
      job.weight = weight->second;
      (waits(known) ? state.waiting : state.running).push_back(std::move(job));
    }
    const Result<QueueDecision> decision = decide_queue(state);
    if (!decision) return {};
    std::map<std::string_view, Placement> placed;
    for (const auto& waiting : decision->waiting) weights_[waiting.id] = waiting.weight;
    for (const auto& running : decision->running) {
      weights_[running.id] = running.weight;
      placed[running.id] = running.placed;
    }
    return plan_for(view, std::move(placed));
  }

 private:
  bool repeats_;
  std::map<std::string, double> weights_;  // of the jobs that have come
};

class Left : public GroupPolicy {
 public:
  GroupPlan decide(const GroupView& view) override {
    LeftState state;
    state.starve_limit = view.starve_limit;
    state.pause = view.pause;
    state.nodes = nodes_of(view);
    std::map<std::size_t, double> served;
    for (const KnownJob& known : view.jobs) {
      LeftJob job;
      job.job = job_of(known);
      job.waited = known.waited;
      job.served = known.served;
      job.left = known.left;
      state.jobs.push_back(std::move(job));
      served[known.number] = known.served;
    }
    for (const auto& [number, seconds] : served_) {
      if (served.count(number) == 0) totals_.push_back(seconds);
    }
    served_ = std::move(served);
    state.totals = totals_;
    const Result<LeftDecision> decision = decide_left(state);
    if (!decision) return {};
    std::map<std::string_view, Placement> placed;
    for (const LeftPlace& job : decision->jobs) placed[job.id] = job.placed;
    GroupPlan plan = plan_for(view, placed);
    for (const KnownJob& known : view.jobs) {
      if (!placed[known.id].workers.empty() || known.waited > view.starve_limit) continue;
      // A little later, since a job is starved only beyond the limit.
      const double starves = view.now + (view.starve_limit - known.waited) * (1 + 1e-9) + 1e-6;
      plan.wake = std::min(plan.wake.value_or(starves), starves);
    }
    return plan;
  }

 private:
  std::map<std::size_t, double> served_;  // of the jobs at the last decision
  std::vector<double> totals_;            // of those that have ended since, as of then
};

}  // namespace

std::unique_ptr<GroupPolicy> make_fifo(std::uint64_t /*seed*/) { return std::make_unique<Fifo>(); }

std::unique_ptr<GroupPolicy> make_kod2(std::uint64_t /*seed*/) {
  return std::make_unique<Kod2>(false);
}

std::unique_ptr<GroupPolicy> make_kod2_repeat(std::uint64_t /*seed*/) {
  return std::make_unique<Kod2>(true);
}

std::unique_ptr<GroupPolicy> make_left(std::uint64_t /*seed*/) { return std::make_unique<Left>(); }

}  // namespace flowcon::sim::groups
