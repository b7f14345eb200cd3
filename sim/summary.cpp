// SPDX-License-Identifier: Apache-2.0
#include "sim/summary.h"

#include <algorithm>
#include <cmath>

#include "sim/bound.h"

namespace flowcon::sim {
namespace {

constexpr double kImproved = -1e-6;  // percent; less is a rounding

// What is measured of one run.
struct Measured {
  std::vector<double> completions;  // of the jobs that are counted, in order
  double mean = 0;
  double mean90 = 0;
  double makespan = 0;
  double moves = 0;
};

bool is_counted(const JobSpec& job) { return !job.crash_at && !job.kill_after; }

Measured measure(const Schedule& schedule, const RunResult& result) {
  Measured measured;
  double sum90 = 0;
  double sum = 0;
  for (std::size_t i = 0; i < result.jobs.size(); ++i) {
    const JobSpec& job = schedule.jobs[i];
    const Outcome& outcome = result.jobs[i];
    measured.moves += outcome.moves;
    measured.makespan = std::max(measured.makespan, outcome.finished);
    if (!is_counted(job)) continue;
    measured.completions.push_back(outcome.finished - job.arrival);
    sum += measured.completions.back();
    sum90 += outcome.reached90.value_or(outcome.finished) - job.arrival;
  }
  const double count = std::max(1.0, static_cast<double>(measured.completions.size()));
  measured.mean = sum / count;
  measured.mean90 = sum90 / count;
  measured.moves /= std::max(1.0, static_cast<double>(result.jobs.size()));
  return measured;
}

// The figures of one policy, seed by seed.
struct Series {
  std::vector<double> mean, t90, makespan, best, worst, improved, above, seconds, moves, changes;

  void add(const Measured& with, const Measured& free, const Bounds& bounds) {
    mean.push_back(percent(with.mean, free.mean));
    t90.push_back(percent(with.mean90, free.mean90));
    makespan.push_back(percent(with.makespan, free.makespan));
    above.push_back(percent(with.mean, bounds.mean_completion));
    seconds.push_back(with.mean);
    moves.push_back(with.moves);
    double low = 0;
    double high = 0;
    double count = 0;
    for (std::size_t i = 0; i < with.completions.size(); ++i) {
      const double change = percent(with.completions[i], free.completions[i]);
      low = i == 0 ? change : std::min(low, change);
      high = i == 0 ? change : std::max(high, change);
      count += change < kImproved ? 1 : 0;
      changes.push_back(change);
    }
    best.push_back(low);
    worst.push_back(high);
    improved.push_back(count);
  }
};

PolicySummary summary_of(const PolicyKind& kind, Series series, std::size_t jobs) {
  PolicySummary summary;
  summary.policy = kind.name;
  summary.mean_completion_percent = figure_of(series.mean);
  summary.t90_percent = figure_of(series.t90);
  summary.makespan_percent = figure_of(series.makespan);
  summary.best_job_percent = figure_of(series.best);
  summary.worst_job_percent = figure_of(series.worst);
  summary.improved = figure_of(series.improved);
  summary.above_bound_percent = figure_of(series.above);
  summary.mean_completion = figure_of(series.seconds).mean;
  summary.moves_per_job = figure_of(series.moves).mean;
  summary.jobs = jobs;
  std::sort(series.changes.begin(), series.changes.end());
  summary.worst_of_all = series.changes.empty() ? 0 : series.changes.back();
  summary.changes = std::move(series.changes);
  return summary;
}

}  // namespace

double percent(double value, double base) { return base > 0 ? 100 * (value / base - 1) : 0; }

Figure figure_of(const std::vector<double>& values) {
  Figure figure;
  if (values.empty()) return figure;
  const double n = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  figure.mean = sum / n;
  if (values.size() < 2) return figure;
  double squares = 0;
  for (const double value : values) squares += (value - figure.mean) * (value - figure.mean);
  figure.se = std::sqrt(squares / (n - 1) / n);
  return figure;
}

std::vector<PolicySummary> run_experiment(
    const Experiment& experiment, const std::function<void(const std::string& what)>& progress) {
  std::vector<Series> series(experiment.policies.size());
  const PolicyKind& free = policies().front();
  std::size_t jobs = 0;
  for (std::uint64_t i = 0; i < experiment.seeds; ++i) {
    const std::uint64_t seed = experiment.first_seed + i;
    const Schedule schedule = experiment.schedule(seed);
    const Bounds bounds = bounds_of(schedule);
    jobs = schedule.jobs.size();
    const auto run_one = [&](const PolicyKind& kind) {
      if (progress) progress(std::string(kind.name) + ", seed " + std::to_string(seed));
      PolicySet set = kind.make(schedule, experiment.policy_parameters);
      return measure(schedule, run(schedule, set, experiment.engine));
    };
    const Measured base = run_one(free);
    for (std::size_t p = 0; p < experiment.policies.size(); ++p) {
      const PolicyKind& kind = *experiment.policies[p];
      series[p].add(&kind == &free ? base : run_one(kind), base, bounds);
    }
  }
  std::vector<PolicySummary> summaries;
  for (std::size_t p = 0; p < experiment.policies.size(); ++p) {
    summaries.push_back(summary_of(*experiment.policies[p], std::move(series[p]), jobs));
  }
  return summaries;
}

}  // namespace flowcon::sim
