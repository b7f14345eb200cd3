// SPDX-License-Identifier: Apache-2.0
#include "sim/elastic/elastic.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/random.h"
#include "cluster/policy/greedy.h"
#include "cluster/policy/horizon.h"

namespace flowcon::sim::elastic {
namespace {

namespace policy = cluster::policy;

constexpr int kMostNodes = 16;  // of one job
constexpr double kStepMinutes = 5;
constexpr double kStepHours = kStepMinutes / 60;
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kFailing = 0.15;        // of the jobs, where it is harsh
constexpr double kKilled = 0.10;         // of the jobs
constexpr double kLongestFailing = 300;  // seconds from their start
constexpr double kLeastLeft = 0.05;      // node hours, where its age is all that is known
constexpr double kShareToDoubt = 0.02;   // of an estimate: when less is left, it was too short

/// A job of the run. What is drawn for it depends on its place and the seed alone.
struct Trainee {
  Job job;
  double estimate = 0;          // node hours
  double fails_after = kNever;  // hours from its start
  double killed_at = kNever;
  int nodes = 0;
  int working = 0;          // of them
  double full_at = kNever;  // all of them work then
  double served = 0;        // node hours, until `since`
  double since = 0;
  double ends_at = kNever;  // if nothing changes
};

Trainee drawn(const Job& job, std::size_t place, const Setting& setting) {
  Random random(mix(setting.seed, place));
  const double error = random.uniform(-1, 1);
  const double fate = random.uniform();
  const double when = random.uniform();
  Trainee trainee;
  trainee.job = job;
  trainee.estimate = job.work;
  if (setting.estimate == Estimate::noise) trainee.estimate *= 1 + error / 10;
  if (setting.estimate == Estimate::factor2) trainee.estimate *= std::exp(error * std::log(2));
  if (setting.estimate == Estimate::factor4) trainee.estimate *= std::exp(error * std::log(4));
  if (!setting.is_harsh) return trainee;
  if (fate < kFailing) {
    trainee.fails_after = when * kLongestFailing / 3600;
  } else if (fate < kFailing + kKilled) {
    trainee.killed_at = job.arrival + when * job.work;
  }
  return trainee;
}

class Simulation {
 public:
  Simulation(const std::vector<Job>& jobs, const Setting& setting) : setting_(setting) {
    trainees_.reserve(jobs.size());
    for (const Job& job : jobs) trainees_.push_back(drawn(job, trainees_.size(), setting));
    run_.jobs.resize(jobs.size());
    idle_ = setting.nodes;
  }

  Run run() {
    while (arrived_ < trainees_.size() || !active_.empty()) {
      const double tick = next_tick();
      now_ = std::min(next_event(), tick);
      const bool has_changed = take_events();
      const bool is_tick = now_ == tick;
      if (is_tick) ++ticks_;
      if (decides_at_events() ? has_changed : is_tick) {
        decide();
      } else if (has_changed) {
        hand_out();
      }
    }
    summarise();
    return std::move(run_);
  }

 private:
  [[nodiscard]] bool decides_at_events() const {
    return setting_.decides_at_events && setting_.allocator == Allocator::horizon;
  }

  // Without jobs nothing is decided before the next one comes.
  [[nodiscard]] double next_tick() {
    if (decides_at_events()) return kNever;
    if (active_.empty()) {
      ticks_ = std::max(ticks_, std::ceil(trainees_[arrived_].job.arrival / kStepHours));
    }
    return ticks_ * kStepHours;
  }

  [[nodiscard]] double next_event() const {
    double next = arrived_ < trainees_.size() ? trainees_[arrived_].job.arrival : kNever;
    for (const std::size_t i : active_) {
      const Trainee& trainee = trainees_[i];
      next = std::min({next, trainee.full_at, end_of(i)});
    }
    return next;
  }

  [[nodiscard]] double end_of(std::size_t i) const {
    const Trainee& trainee = trainees_[i];
    const auto& started = run_.jobs[i].started;
    return std::min(
        {trainee.ends_at, trainee.killed_at, started ? *started + trainee.fails_after : kNever});
  }

  // True: jobs came or ended.
  bool take_events() {
    const std::size_t before = active_.size();
    for (const std::size_t i : active_) {
      if (trainees_[i].full_at <= now_) work_with(i, trainees_[i].nodes);
      if (end_of(i) <= now_) end(i);
    }
    std::erase_if(active_, [this](std::size_t i) { return end_of(i) <= now_; });
    bool has_changed = active_.size() != before;
    for (; arrived_ < trainees_.size() && trainees_[arrived_].job.arrival <= now_; ++arrived_) {
      active_.push_back(arrived_);
      has_changed = true;
    }
    return has_changed;
  }

  void end(std::size_t i) {
    const Trainee& trainee = trainees_[i];
    Outcome& outcome = run_.jobs[i];
    outcome.ended = now_;
    outcome.end = trainee.ends_at <= now_     ? Outcome::End::complete
                  : trainee.killed_at <= now_ ? Outcome::End::killed
                                              : Outcome::End::failed;
    if (trainee.nodes == 0) return;
    idle_ += trainee.nodes;
    run_.changes.push_back({now_, i, 0});
  }

  // Brings what it has been served up to now.
  void serve(Trainee& trainee) const {
    const double hours = now_ - trainee.since;
    trainee.served = std::min(trainee.job.work, trainee.served + hours * speed(trainee.working));
    trainee.since = now_;
  }

  [[nodiscard]] static double speed(int nodes) {
    return nodes == 0 ? 0 : policy::speed_of({}, nodes);
  }

  void work_with(std::size_t i, int nodes) {
    Trainee& trainee = trainees_[i];
    serve(trainee);
    trainee.working = nodes;
    trainee.full_at = kNever;
    trainee.ends_at =
        nodes == 0 ? kNever : now_ + (trainee.job.work - trainee.served) / speed(nodes);
  }

  void give(std::size_t i, int nodes) {
    Trainee& trainee = trainees_[i];
    if (trainee.nodes == nodes) return;
    const bool is_scaled_up = trainee.nodes > 0 && nodes > trainee.nodes;
    idle_ -= nodes - trainee.nodes;
    trainee.nodes = nodes;
    run_.changes.push_back({now_, i, nodes});
    if (nodes > 0 && !run_.jobs[i].started) run_.jobs[i].started = now_;
    if (is_scaled_up && setting_.scale_up_seconds > 0) {
      trainee.full_at = now_ + setting_.scale_up_seconds / 3600;
    } else {
      work_with(i, nodes);
    }
  }

  // Idle nodes to the head of the queue, until there are no more of either.
  void hand_out() {
    for (const std::size_t i : active_) {
      if (idle_ == 0) return;
      if (trainees_[i].nodes > 0) continue;
      int nodes = 1;
      while (2 * nodes <= std::min(idle_, kMostNodes)) nodes *= 2;
      give(i, nodes);
    }
  }

  void decide() {
    for (const std::size_t i : active_) serve(trainees_[i]);
    if (setting_.allocator == Allocator::greedy) {
      decide_by_greedy();
    } else {
      decide_by_horizon();
    }
  }

  void decide_by_greedy() {
    policy::GreedyState state;
    state.nodes = setting_.nodes;
    for (const std::size_t i : active_) {
      const auto& started = run_.jobs[i].started;
      state.jobs.push_back(
          {std::to_string(i), trainees_[i].nodes, started ? now_ - *started : 0, 1, kMostNodes});
    }
    const policy::GreedyDecision decision = policy::decide_greedy(state);
    std::vector<int> nodes;
    for (const std::int64_t one : decision.nodes) nodes.push_back(static_cast<int>(one));
    apply(nodes);
  }

  void decide_by_horizon() {
    policy::HorizonState state;
    state.nodes = setting_.nodes;
    state.minutes = kStepMinutes;
    state.allow_zero = setting_.allow_zero;
    for (const std::size_t i : active_) {
      state.jobs.push_back({std::to_string(i), left(trainees_[i]), 1, kMostNodes, {}, {}});
    }
    const policy::HorizonDecision decision =
        policy::decide_horizon(state, policy::HorizonEffort::plan);
    // Those that are not admitted are the last ones.
    std::vector<int> nodes;
    for (const policy::HorizonPlan& plan : decision.plan) nodes.push_back(plan.nodes.front());
    nodes.resize(active_.size(), 0);
    apply(nodes);
  }

  // What the allocator takes for the work that is left.
  [[nodiscard]] double left(const Trainee& trainee) const {
    if (setting_.estimate == Estimate::age) return std::max(kLeastLeft, trainee.served);
    const double left = trainee.estimate - trainee.served;
    if (setting_.estimate == Estimate::exact) return std::max(left, kLeastExact);
    const double least = kShareToDoubt * trainee.estimate;
    if (left >= least) return left;
    return std::max(trainee.served - trainee.estimate / 2, least) / 2;
  }

  void apply(const std::vector<int>& nodes) {
    // Those that give come first: at no moment are more in use than there are.
    for (const bool is_giving : {true, false}) {
      for (std::size_t at = 0; at < active_.size(); ++at) {
        const std::size_t i = active_[at];
        if ((nodes[at] < trainees_[i].nodes) == is_giving) give(i, nodes[at]);
      }
    }
  }

  void summarise() {
    for (std::size_t i = 0; i < run_.jobs.size(); ++i) {
      const Outcome& outcome = run_.jobs[i];
      if (outcome.end != Outcome::End::complete) continue;
      ++run_.completed;
      run_.mean_completion += outcome.ended - trainees_[i].job.arrival;
      run_.mean_queueing += *outcome.started - trainees_[i].job.arrival;
    }
    if (run_.completed == 0) return;
    run_.mean_completion /= static_cast<double>(run_.completed);
    run_.mean_queueing /= static_cast<double>(run_.completed);
  }

  static constexpr double kLeastExact = 1e-9;  // node hours; rounding

  const Setting setting_;
  std::vector<Trainee> trainees_;
  std::vector<std::size_t> active_;  // in order of arrival; those without nodes are the queue
  std::size_t arrived_ = 0;
  int idle_ = 0;
  double now_ = 0;    // hours
  double ticks_ = 0;  // of the next one
  Run run_;
};

}  // namespace

Run run(const std::vector<Job>& jobs, const Setting& setting) {
  return Simulation(jobs, setting).run();
}

double additional_jobs(const Run& greedy, const Run& run) {
  if (!(run.mean_completion > 0)) return 0;
  return 100 * (greedy.mean_completion / run.mean_completion - 1);
}

}  // namespace flowcon::sim::elastic
