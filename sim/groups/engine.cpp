// SPDX-License-Identifier: Apache-2.0
#include "sim/groups/engine.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/groups/rate.h"

namespace flowcon::sim::groups {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kTolerance = 1e-9;  // of amounts, as the decisions have it

void add(Amounts& amounts, const Amounts& request, double times) {
  for (const auto& [kind, amount] : request) {
    const auto at = std::find_if(amounts.begin(), amounts.end(),
                                 [&name = kind](const auto& each) { return each.first == name; });
    if (at == amounts.end()) {
      amounts.emplace_back(kind, times * amount);
    } else {
      at->second += times * amount;
    }
  }
}

void add(std::vector<PlaceNode>& nodes, const GroupJob& job, const Placement& placed, double sign) {
  for (const NodeCount& here : placed.ps) {
    add(nodes[here.node].used, job.ps_request, sign * static_cast<double>(here.count));
  }
  for (const NodeCount& here : placed.workers) {
    add(nodes[here.node].used, job.worker_request, sign * static_cast<double>(here.count));
  }
}

bool is_exceeded(const PlaceNode& node) {
  return std::any_of(node.used.begin(), node.used.end(), [&](const auto& used) {
    return used.second > cluster::policy::amount_of(node.cap, used.first) + kTolerance;
  });
}

bool is_empty(const Placement& placed) { return placed.ps.empty() && placed.workers.empty(); }

struct State {
  Placement placed;
  double left = 0;       // work
  double rate = 0;       // until the next event
  double waited = 0;     // seconds without a task
  double resumes = 0;    // it stands still until then
  double last_wait = 0;  // when it came or lost its last task
  bool has_come = false;
  bool has_worked = false;
  std::optional<double> finished;
};

class Engine {
 public:
  Engine(const GroupSchedule& schedule, const GroupPolicyKind& kind,
         const GroupParameters& parameters)
      : schedule_(schedule),
        kind_(kind),
        parameters_(parameters),
        policy_(kind.make(schedule.seed)),
        nodes_(schedule.nodes),
        states_(schedule.jobs.size()) {
    for (std::size_t i = 0; i < states_.size(); ++i) states_[i].left = schedule.jobs[i].work;
    for (const PlaceNode& node : schedule.nodes) {
      cores_ += cluster::policy::amount_of(node.cap, "cpu");
    }
  }

  GroupResult run(const Watcher& watcher) {
    for (double next = next_event(); next < kNever; next = next_event()) {
      advance(next);
      if (has_changed_ || now_ >= wake_) decide();
      set_rates();
      if (watcher) watcher(moment());
    }
    return result();
  }

 private:
  [[nodiscard]] bool works(std::size_t i) const {
    const GroupJob& job = schedule_.jobs[i];
    const std::int64_t workers = count_of(states_[i].placed.workers);
    if (is_empty(states_[i].placed) || count_of(states_[i].placed.ps) < job.ps) return false;
    switch (kind_.works) {
      case Works::gang:
        return workers >= job.min;
      case Works::any:
        return workers >= 1;
      case Works::whole:
        return workers >= job.max;
    }
    return false;
  }

  [[nodiscard]] double next_event() const {
    double next = wake_;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      const State& state = states_[i];
      if (!state.has_come) {
        next = std::min(next, schedule_.jobs[i].arrival);
      } else if (!state.finished && works(i)) {
        if (state.resumes > now_) next = std::min(next, state.resumes);
        if (state.rate > 0) next = std::min(next, now_ + state.left / state.rate);
      }
    }
    return next;
  }

  void advance(double to) {
    const double seconds = std::max(to - now_, 0.0);
    for (std::size_t i = 0; i < states_.size(); ++i) {
      State& state = states_[i];
      if (!(state.rate > 0)) continue;
      const double done = state.rate * seconds;
      // The one that the event is about has ended, however its division was rounded.
      state.left = state.left - done <= 1e-12 * schedule_.jobs[i].work ? 0 : state.left - done;
      state.has_worked = state.has_worked || seconds > 0;
      busy_ += seconds * cores_of(i);
    }
    now_ = std::max(now_, to);
    for (std::size_t i = 0; i < states_.size(); ++i) {
      State& state = states_[i];
      if (!state.has_come && schedule_.jobs[i].arrival <= now_) {
        state.has_come = true;
        state.last_wait = now_;
        has_changed_ = true;
      }
      if (!state.has_come || state.finished || state.left > 0) continue;
      state.finished = now_;
      state.rate = 0;
      add(nodes_, schedule_.jobs[i], std::exchange(state.placed, {}), -1);
      has_changed_ = true;
    }
  }

  [[nodiscard]] double cores_of(std::size_t i) const {
    const GroupJob& job = schedule_.jobs[i];
    const Placement& placed = states_[i].placed;
    return static_cast<double>(count_of(placed.ps)) *
               cluster::policy::amount_of(job.ps_request, "cpu") +
           static_cast<double>(count_of(placed.workers)) *
               cluster::policy::amount_of(job.worker_request, "cpu");
  }

  [[nodiscard]] GroupView view() const {
    GroupView view;
    view.now = now_;
    view.starve_limit = schedule_.starve_limit;
    view.pause = parameters_.pause;
    view.nodes = nodes_;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      const GroupJob& job = schedule_.jobs[i];
      const State& state = states_[i];
      if (!state.has_come || state.finished) continue;
      KnownJob known;
      known.number = i;
      known.id = job.id;
      known.since = job.arrival;
      known.waited = state.waited + (is_empty(state.placed) ? now_ - state.last_wait : 0);
      const double speed = speed_of(job, schedule_.law, job.max);
      known.served = (job.work - state.left) / speed;
      if (kind_.is_told_left && job.has_counter) known.left = state.left / speed;
      known.min = job.min;
      known.max = job.max;
      known.ps = job.ps;
      known.worker_request = &job.worker_request;
      known.ps_request = &job.ps_request;
      known.placed = state.placed;
      view.jobs.push_back(std::move(known));
    }
    return view;
  }

  void decide() {
    has_changed_ = false;
    wake_ = kNever;
    const GroupPlan plan = policy_->decide(view());
    if (plan.wake && *plan.wake > now_) wake_ = *plan.wake;
    if (!carry_out(plan)) ++refused_;
  }

  // All of a plan, or nothing of it.
  bool carry_out(const GroupPlan& plan) {
    std::vector<PlaceNode> nodes = nodes_;
    for (const GroupChange& change : plan.changes) {
      if (change.number >= states_.size() || !states_[change.number].has_come) return false;
      if (states_[change.number].finished || !is_whole(change)) return false;
      add(nodes, schedule_.jobs[change.number], states_[change.number].placed, -1);
    }
    for (const GroupChange& change : plan.changes) {
      add(nodes, schedule_.jobs[change.number], change.placed, 1);
    }
    if (std::any_of(nodes.begin(), nodes.end(), is_exceeded)) return false;
    nodes_ = std::move(nodes);
    for (const GroupChange& change : plan.changes) make(change);
    return true;
  }

  // Of a gang all tasks, or none.
  [[nodiscard]] bool is_whole(const GroupChange& change) const {
    const GroupJob& job = schedule_.jobs[change.number];
    const std::int64_t ps = count_of(change.placed.ps);
    const std::int64_t workers = count_of(change.placed.workers);
    if (ps > job.ps || workers > job.max) return false;
    return kind_.works != Works::gang || is_empty(change.placed) ||
           (ps == job.ps && workers >= job.min);
  }

  void make(const GroupChange& change) {
    State& state = states_[change.number];
    const bool has_waited = is_empty(state.placed);
    const bool waits = is_empty(change.placed);
    if (has_waited && !waits) state.waited += now_ - state.last_wait;
    if (!has_waited && waits) state.last_wait = now_;
    if (state.has_worked) {
      ++resizes_;
      state.resumes = now_ + parameters_.pause;
    }
    state.placed = change.placed;
  }

  void set_rates() {
    std::vector<Active> active;
    std::vector<State*> of;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      states_[i].rate = 0;
      if (!states_[i].has_come || states_[i].finished || states_[i].resumes > now_) continue;
      if (!works(i)) continue;
      active.push_back({&schedule_.jobs[i], &states_[i].placed});
      of.push_back(&states_[i]);
    }
    const std::vector<double> rates = rates_of(active, schedule_.law, nodes_.size());
    for (std::size_t i = 0; i < rates.size(); ++i) of[i]->rate = rates[i];
  }

  [[nodiscard]] GroupMoment moment() const {
    GroupMoment moment;
    moment.now = now_;
    moment.nodes = nodes_;
    for (const State& state : states_) {
      moment.placed.push_back(state.placed);
      moment.left.push_back(state.left);
      moment.rates.push_back(state.rate);
    }
    return moment;
  }

  [[nodiscard]] GroupResult result() const {
    GroupResult result;
    double sum = 0;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      result.finished.push_back(states_[i].finished);
      if (!states_[i].finished) {
        ++result.stuck;
        continue;
      }
      sum += *states_[i].finished - schedule_.jobs[i].arrival;
      result.end = std::max(result.end, *states_[i].finished);
    }
    const std::size_t ended = states_.size() - result.stuck;
    if (ended > 0) result.mean_completion = sum / static_cast<double>(ended);
    if (result.end > 0 && cores_ > 0) result.cpu_use = busy_ / (cores_ * result.end);
    result.resizes = resizes_;
    result.refused = refused_;
    return result;
  }

  const GroupSchedule& schedule_;
  const GroupPolicyKind& kind_;
  const GroupParameters& parameters_;
  std::unique_ptr<GroupPolicy> policy_;
  std::vector<PlaceNode> nodes_;
  std::vector<State> states_;
  double cores_ = 0;
  double now_ = 0;
  double wake_ = kNever;
  double busy_ = 0;  // core seconds
  bool has_changed_ = false;
  std::size_t resizes_ = 0;
  std::size_t refused_ = 0;
};

}  // namespace

GroupResult run(const GroupSchedule& schedule, const GroupPolicyKind& kind,
                const GroupParameters& parameters, const Watcher& watcher) {
  return Engine(schedule, kind, parameters).run(watcher);
}

}  // namespace flowcon::sim::groups
