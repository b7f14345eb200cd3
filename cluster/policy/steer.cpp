// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/steer.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

namespace flowcon::cluster::policy {
namespace {

constexpr double kLeast = 1e-9;
constexpr std::size_t kSources = 16;  // hosts that are asked for a move before there is none

// A host's jobs, shortest first, and what comes of serving them so.
class Queue {
 public:
  explicit Queue(const SteeredHost& host) : cores_(std::max(kLeast, host.cores)), jobs_(host.jobs) {
    std::stable_sort(jobs_.begin(), jobs_.end(), shorter);
  }

  struct Ends {
    double sum = 0;   // of all jobs
    double last = 0;  // of the host
  };

  // `without` is left out; `with` comes after `late` seconds of its own.
  [[nodiscard]] Ends ends(const SteeredJob* without, const SteeredJob* with, double late) const {
    Ends ends;
    double work = 0;
    bool is_in = with == nullptr;
    const auto serve = [&](const SteeredJob& job, double delay) {
      work += job.left;
      const double alone = delay + job.left / std::clamp(job.width, kLeast, cores_);
      const double end = std::max(work / cores_, alone);
      ends.sum += end;
      ends.last = std::max(ends.last, end);
    };
    for (const SteeredJob& job : jobs_) {
      if (!is_in && with->left < job.left) {
        serve(*with, late);
        is_in = true;
      }
      if (&job != without) serve(job, 0);
    }
    if (!is_in) serve(*with, late);
    return ends;
  }

  [[nodiscard]] const std::vector<SteeredJob>& jobs() const { return jobs_; }

  void take(const SteeredJob& job) {
    jobs_.insert(std::upper_bound(jobs_.begin(), jobs_.end(), job, shorter), job);
  }
  void drop(const std::string& id) {
    std::erase_if(jobs_, [&](const SteeredJob& job) { return job.id == id; });
  }

 private:
  static bool shorter(const SteeredJob& a, const SteeredJob& b) { return a.left < b.left; }
  double cores_;
  std::vector<SteeredJob> jobs_;
};

class Steering {
 public:
  explicit Steering(const SteerState& state) : state_(state) {
    for (const SteeredHost& host : state.hosts) {
      queues_.emplace_back(host);
      ends_.push_back(queues_.back().ends(nullptr, nullptr, 0));
    }
  }

  // The next move, done; false where none is worth it.
  bool step(SteerDecision& decision) {
    std::vector<std::size_t> order(ends_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      return ends_[a].last > ends_[b].last;
    });
    order.resize(std::min(order.size(), kSources));
    return std::any_of(order.begin(), order.end(),
                       [&](std::size_t from) { return step_from(from, decision); });
  }

 private:
  struct Choice {
    SteeredJob job;
    std::size_t to = 0;
    Queue::Ends source;
    Queue::Ends target;
    double gain = 0;
  };

  bool step_from(std::size_t from, SteerDecision& decision) {
    std::optional<Choice> best;
    for (const SteeredJob& job : queues_[from].jobs()) {
      if (!job.may_move || job.moves >= state_.max_moves || moved_.contains(job.id)) continue;
      const Queue::Ends left = queues_[from].ends(&job, nullptr, 0);
      for (std::size_t to = 0; to < queues_.size(); ++to) {
        if (to == from || ends_[to].last >= ends_[from].last) continue;
        consider(job, from, to, left, best);
      }
    }
    if (!best) return false;
    decision.moves.push_back({best->job.id, state_.hosts[from].id, state_.hosts[best->to].id});
    moved_.insert(best->job.id);
    queues_[from].drop(best->job.id);
    queues_[best->to].take(best->job);
    ends_[from] = best->source;
    ends_[best->to] = best->target;
    return true;
  }

  void consider(const SteeredJob& job, std::size_t from, std::size_t to, const Queue::Ends& left,
                std::optional<Choice>& best) const {
    const Queue::Ends target = queues_[to].ends(nullptr, &job, state_.move_seconds);
    if (std::max(left.last, target.last) > ends_[from].last) return;
    const double sum = ends_[from].sum + ends_[to].sum - left.sum - target.sum;
    const double end = ends_[from].last - std::max(left.last, target.last);
    const double gain = sum + end;
    if (gain < state_.gain * state_.move_seconds || gain <= 0) return;
    if (!best || gain > best->gain) best = Choice{job, to, left, target, gain};
  }

  const SteerState& state_;
  std::vector<Queue> queues_;
  std::vector<Queue::Ends> ends_;
  std::set<std::string> moved_;
};

}  // namespace

SteerDecision decide_steer(const SteerState& state) {
  SteerDecision decision;
  if (state.hosts.size() < 2) return decision;
  Steering steering(state);
  while (decision.moves.size() < state.hosts.size() && steering.step(decision)) {
  }
  return decision;
}

}  // namespace flowcon::cluster::policy
