// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/queue.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "cluster/policy/scale.h"

namespace flowcon::cluster::policy {
namespace {

using Op = QueueAction::Op;

// The resources that requests name.
std::vector<std::string_view> requested_kinds(const QueueState& state) {
  std::vector<std::string_view> kinds;
  for (const auto* jobs : {&state.waiting, &state.running, &state.arriving}) {
    for (const QueueJob& job : *jobs) {
      add_kinds(kinds, job.worker_request);
      add_kinds(kinds, job.ps_request);
    }
  }
  return kinds;
}

bool by_weight(const QueuedGroup* a, const QueuedGroup* b) { return comes_before(*a, *b); }

// The queue while passes change it.
class Queue {
 public:
  explicit Queue(const QueueState& state)
      : state_(state), room_(state.nodes, requested_kinds(state)) {
    groups_.reserve(state.waiting.size() + state.running.size() + state.arriving.size());
    for (const QueueJob& job : state.waiting) waiting_.push_back(add(job));
    for (const QueueJob& job : state.running) {
      running_.push_back(add(job));
      QueuedGroup& group = *running_.back();
      group.placed = job.placed;
      group.is_running = true;
      for (const NodeCount& here : job.placed.workers) group.workers += here.count;
      if (job.done) done_.push_back(&group);
    }
    order_ = running_;
    std::sort(order_.begin(), order_.end(), by_weight);
  }

  Result<QueueDecision> decide() {
    enqueue();
    queue_ = waiting_;
    std::sort(queue_.begin(), queue_.end(), by_weight);
    bool has_started = pass();
    decision_.branch = branch_;
    while (state_.repeat && has_started && !room_.is_exhausted()) has_started = pass();
    if (room_.is_exhausted()) {
      return bad_input("max: job \"" + printable(culprit_, 40) +
                       "\" requests too little for its counts: more than a million workers");
    }
    for (const QueuedGroup* group : waiting_) {
      decision_.waiting.push_back({std::string(group->id), group->weight});
    }
    for (const QueuedGroup* group : running_) {
      decision_.running.push_back({std::string(group->id), group->weight, group->placed});
    }
    for (std::size_t i = 0; i < state_.nodes.size(); ++i) {
      decision_.nodes.push_back({state_.nodes[i].id, room_.listed(i, state_.nodes[i].idle)});
    }
    return std::move(decision_);
  }

 private:
  QueuedGroup* add(const QueueJob& job) {
    QueuedGroup group;
    group.id = job.id;
    group.since = job.since;
    group.weight = job.weight;
    group.max = job.max;
    group.minimum.ps = job.ps;
    group.minimum.workers = job.min;
    group.minimum.ps_needs = room_.needs_of(job.ps_request);
    group.minimum.worker_needs = room_.needs_of(job.worker_request);
    group.minimum.whole = whole_of(group.minimum, room_.kinds());
    groups_.push_back(std::move(group));
    return &groups_.back();
  }

  QueueAction& act(Op op, const QueuedGroup& group) {
    QueueAction action;
    action.op = op;
    action.job = group.id;
    decision_.actions.push_back(std::move(action));
    return decision_.actions.back();
  }

  // False once the decision has no end; the job at which it was noticed is named.
  bool goes_on(const QueuedGroup& group) {
    if (room_.is_exhausted() && culprit_.empty()) culprit_ = group.id;
    return !room_.is_exhausted();
  }

  void enqueue() {
    const LargestNode largest = largest_of(state_.nodes);
    for (const QueueJob& job : state_.arriving) {
      QueuedGroup& group = *add(job);
      group.weight = queue_weight(job, largest, state_.basis);
      waiting_.push_back(&group);
      act(Op::enqueue, group).weight = group.weight;
    }
  }

  // Algorithm 1. Whether it started a job.
  bool pass() {
    const std::size_t before = running_.size();
    branch_.reset();
    if (!queue_.empty()) {
      const double heaviest =
          order_.empty() ? -std::numeric_limits<double>::infinity() : order_.front()->weight;
      const bool is_top = queue_.front()->weight >= heaviest - kSameWeight;
      branch_ = is_top ? QueueBranch::top : QueueBranch::rest;
      if (is_top) {
        serve_first();
      } else {
        serve_all();
      }
    }
    const bool has_started = running_.size() > before;
    if (has_started) forget_started();
    if (branch_ == QueueBranch::rest || state_.starve_everywhere) starve();
    grow();
    finish();
    return has_started;
  }

  void serve_first() {
    QueuedGroup& first = *queue_.front();
    if (auto place = find_place(room_, first.minimum, refusals_)) {
      start(first, std::move(*place), false);
      return;
    }
    const auto found = scale_in(room_, order_, first, {state_.check_after, state_.prune});
    if (!goes_on(first) || !found) return;
    for (const Removal& removal : found->removals) {
      if (!room_.spend(100)) break;
      room_.give(removal.node, removal.group->minimum.worker_needs, 1);
      remove_worker(*removal.group, removal.node);
      act(Op::remove_worker, *removal.group).node = removal.node;
    }
    start(first, whole_on(found->node, first.minimum), true);
  }

  void serve_all() {
    for (QueuedGroup* group : queue_) {
      if (auto place = find_place(room_, group->minimum, refusals_)) {
        start(*group, std::move(*place), false);
      }
      if (!goes_on(*group)) return;
    }
  }

  void start(QueuedGroup& group, Placement place, bool by_preempt) {
    const Gang& gang = group.minimum;
    for (const NodeCount& here : place.ps) room_.take(here.node, gang.ps_needs, here.count);
    for (const NodeCount& here : place.workers) {
      room_.take(here.node, gang.worker_needs, here.count);
      group.workers += here.count;
    }
    if (!goes_on(group)) return;
    QueueAction& action = act(Op::start, group);
    action.by_preempt = by_preempt;
    action.placed = place;
    group.placed = std::move(place);
    group.is_running = true;
    running_.push_back(&group);
    order_.insert(std::lower_bound(order_.begin(), order_.end(), &group, by_weight), &group);
  }

  void forget_started() {
    const auto is_running = [](const QueuedGroup* group) { return group->is_running; };
    std::erase_if(waiting_, is_running);
    std::erase_if(queue_, is_running);
  }

  void starve() {
    bool has_changed = false;
    for (QueuedGroup* group : waiting_) {
      if (!(state_.now - group->since > state_.starve_limit) || !(group->weight < 1)) continue;
      group->weight = 1;
      act(Op::starve, *group);
      has_changed = true;
    }
    if (has_changed) std::sort(queue_.begin(), queue_.end(), by_weight);
  }

  void grow() {
    for (QueuedGroup* group : order_) {
      for (const NodeCount& added : scale_out(room_, *group, refusals_)) {
        for (std::int64_t i = 0; i < added.count; ++i) {
          act(Op::add_worker, *group).node = added.node;
        }
      }
      if (!goes_on(*group)) return;
    }
  }

  void finish() {
    if (done_.empty()) return;
    for (QueuedGroup* group : done_) {
      const Gang& gang = group->minimum;
      for (const NodeCount& here : group->placed.ps) {
        room_.give(here.node, gang.ps_needs, here.count);
      }
      for (const NodeCount& here : group->placed.workers) {
        room_.give(here.node, gang.worker_needs, here.count);
      }
      group->is_running = false;
      act(Op::finish, *group);
      decision_.finished.emplace_back(group->id);
      if (!goes_on(*group)) return;
    }
    done_.clear();
    const auto has_left = [](const QueuedGroup* group) { return !group->is_running; };
    std::erase_if(running_, has_left);
    std::erase_if(order_, has_left);
  }

  const QueueState& state_;
  Room room_;
  Refusals refusals_;
  std::vector<QueuedGroup> groups_;    // never moved: the lists below point into it
  std::vector<QueuedGroup*> waiting_;  // in the order they came
  std::vector<QueuedGroup*> queue_;    // the same by weight
  std::vector<QueuedGroup*> running_;  // in their order
  std::vector<QueuedGroup*> order_;    // the same by weight
  std::vector<QueuedGroup*> done_;     // of running_, in that order
  std::optional<QueueBranch> branch_;  // of this pass
  std::string culprit_;                // the job at which the decision got too long
  QueueDecision decision_;
};

}  // namespace

const char* name(QueueAction::Op op) {
  switch (op) {
    case Op::enqueue:
      return "enqueue";
    case Op::start:
      return "start";
    case Op::remove_worker:
      return "remove_worker";
    case Op::add_worker:
      return "add_worker";
    case Op::starve:
      return "starve";
    case Op::finish:
      return "finish";
  }
  return "";
}

LargestNode largest_of(const std::vector<QueueNode>& nodes) {
  LargestNode largest;
  for (const QueueNode& node : nodes) {
    largest.cpu = std::max(largest.cpu, amount_of(node.cap, "cpu"));
    largest.mem = std::max(largest.mem, amount_of(node.cap, "mem"));
  }
  return largest;
}

double queue_weight(const QueueJob& job, const LargestNode& largest, WeightBasis basis) {
  const auto share = [&](const char* kind, double of) {
    if (!(of > 0)) return 0.0;
    const double worker = std::max(amount_of(job.worker_request, kind), 0.0);
    if (basis == WeightBasis::worker) return worker / of;
    const double ps = std::max(amount_of(job.ps_request, kind), 0.0);
    return (static_cast<double>(job.ps) * ps + static_cast<double>(job.min) * worker) / of;
  };
  const double requested = share("cpu", largest.cpu) + share("mem", largest.mem);
  if (!(requested > 0)) return 1;
  return 1 / (1 + std::exp(-(static_cast<double>(job.min) / requested)));
}

Result<QueueDecision> decide_queue(const QueueState& state) { return Queue(state).decide(); }

}  // namespace flowcon::cluster::policy
