// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/greedy.h"

#include <algorithm>
#include <numeric>

namespace flowcon::cluster::policy {
namespace {

class Allocation {
 public:
  explicit Allocation(const GreedyState& state) : state_(state) {
    decision_.idle = state.nodes;
    for (std::size_t i = 0; i < state.jobs.size(); ++i) {
      decision_.ids.push_back(state.jobs[i].id);
      decision_.nodes.push_back(state.jobs[i].nodes);
      decision_.idle -= state.jobs[i].nodes;
      if (state.jobs[i].nodes == 0) queue_.push_back(i);
    }
    const bool is_idle = decision_.idle > 0;
    decision_.scenario = is_idle ? (has_queue() ? 1 : 2) : (has_queue() ? 3 : 4);
  }

  GreedyDecision decide() {
    const int scenario = decision_.scenario;
    if (scenario == 1) start_queue();
    const bool goes_on = scenario == 1 && state_.cascade && !has_queue() && decision_.idle > 0;
    if (scenario == 2 || goes_on) scale_up();
    if (scenario == 3) {
      while (halve() && state_.repeat) continue;
    }
    return std::move(decision_);
  }

 private:
  [[nodiscard]] bool has_queue() const { return started_ < queue_.size(); }

  [[nodiscard]] static std::int64_t least(const GreedyJob& job) {
    return std::max<std::int64_t>(1, job.n_min);
  }

  // The most that the job can have of `nodes`; 0: none.
  [[nodiscard]] std::int64_t legal(const GreedyJob& job, std::int64_t nodes) const {
    std::int64_t most = std::min(nodes, job.n_max);
    if (state_.powers_of_two && most > 0) {
      std::int64_t power = 1;
      while (power <= most / 2) power *= 2;
      most = power;
    }
    return most < least(job) ? 0 : most;
  }

  void set(GreedyStep step, std::size_t job, std::int64_t nodes) {
    decision_.idle -= nodes - decision_.nodes[job];
    decision_.nodes[job] = nodes;
    decision_.log.push_back({step, job, nodes});
  }

  // Starts the first of the queue with what is legal of `nodes`. False: nothing is.
  bool start(std::int64_t nodes) {
    const std::size_t job = queue_[started_];
    const std::int64_t most = legal(state_.jobs[job], nodes);
    if (most == 0) return false;
    set(GreedyStep::start, job, most);
    ++started_;
    return true;
  }

  void start_queue() {
    while (has_queue() && start(decision_.idle)) continue;
  }

  void scale_up() {
    std::vector<std::size_t> order(state_.jobs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return state_.jobs[a].train_time < state_.jobs[b].train_time;
    });
    for (const std::size_t job : order) {
      const std::int64_t own = decision_.nodes[job];
      if (own == 0) continue;
      const std::int64_t most = legal(state_.jobs[job], own + decision_.idle);
      if (most > own) set(GreedyStep::up, job, most);
    }
  }

  // False: nobody can give half, or that starts nobody.
  bool halve() {
    if (!has_queue()) return false;
    const std::size_t none = state_.jobs.size();
    std::size_t longest = none;
    for (std::size_t i = 0; i < state_.jobs.size(); ++i) {
      if (decision_.nodes[i] / 2 < least(state_.jobs[i])) continue;
      if (longest == none || state_.jobs[i].train_time > state_.jobs[longest].train_time) {
        longest = i;
      }
    }
    if (longest == none) return false;
    const std::int64_t own = decision_.nodes[longest];
    const std::int64_t freed = own - own / 2;
    if (legal(state_.jobs[queue_[started_]], freed) == 0) return false;
    set(GreedyStep::down, longest, own / 2);
    return start(freed);
  }

  const GreedyState& state_;
  GreedyDecision decision_;
  std::vector<std::size_t> queue_;
  std::size_t started_ = 0;  ///< of the queue
};

}  // namespace

GreedyDecision decide_greedy(const GreedyState& state) { return Allocation(state).decide(); }

}  // namespace flowcon::cluster::policy
