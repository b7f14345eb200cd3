// SPDX-License-Identifier: Apache-2.0
#include "sim/replay.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace flowcon::sim {
namespace {

constexpr double kLongestGap = 120;       // seconds
constexpr double kLongestGapShare = 0.1;  // of the run
constexpr double kShortestLook = 0.5;     // seconds; a shorter one does not tell what a job can use
constexpr std::uint32_t kMostLines = 500;
constexpr double kMostWarmup = 0.95;

// CPU seconds used up to moments, straight between them.
struct Used {
  std::vector<double> times;
  std::vector<double> sums;

  void add(double time, double cores) {
    sums.push_back(sums.back() + (time - times.back()) * cores);
    times.push_back(time);
  }
  [[nodiscard]] double at(double time) const {
    const auto after = std::upper_bound(times.begin(), times.end(), time);
    if (after == times.begin()) return 0;
    const auto i = static_cast<std::size_t>(after - times.begin());
    if (i == times.size()) return sums.back();
    const double span = times[i] - times[i - 1];
    return sums[i - 1] + (sums[i] - sums[i - 1]) * (time - times[i - 1]) / span;
  }
};

std::vector<ctrl::Sample> finite_samples(const RecordedRun& recorded) {
  std::vector<ctrl::Sample> samples;
  for (const ctrl::Sample& sample : recorded.samples) {
    const bool is_number = std::abs(sample.value) <= ReplayRun::kMostValue;
    if (std::isfinite(sample.time) && is_number) samples.push_back(sample);
  }
  return samples;
}

// `count` of them, evenly, the first and the last always.
template <class Item>
std::vector<Item> evenly(const std::vector<Item>& items, std::size_t count) {
  if (items.size() <= count) return items;
  std::vector<Item> kept;
  for (std::size_t i = 0; i < count; ++i)
    kept.push_back(items[i * (items.size() - 1) / (count - 1)]);
  return kept;
}

JobSpec job_of(const ReplayRun& run, double cores) {
  JobSpec job;
  job.id = run.name;
  job.model = run.training;
  job.work = run.work;
  job.parallelism = std::min(run.cores, cores);
  job.lines = std::clamp<std::uint32_t>(run.values, ReplayRun::kLeastValues, kMostLines);
  job.has_counter = run.has_counter;
  // The first line comes when the first of `lines` steps is done.
  const double step = 1.0 / job.lines;
  job.warmup = std::clamp((run.points.front().x - step) / (1 - step), 0.0, kMostWarmup);
  std::vector<CurvePoint> points = run.points;
  for (CurvePoint& point : points) {
    point.x = std::clamp((point.x - job.warmup) / (1 - job.warmup), 0.0, 1.0);
  }
  job.curve = std::make_shared<const Curve>(Curve::table(std::move(points), run.goal));
  return job;
}

}  // namespace

Reading read_recorded(const RecordedRun& recorded, double cores) {
  Reading reading;
  const auto unfit = [&reading](Unfit why) {
    reading.unfit = why;
    return reading;
  };
  if (recorded.has_moved) return unfit(Unfit::has_moved);
  if (!recorded.finished) return unfit(Unfit::is_running);
  const std::vector<ctrl::Sample> samples = finite_samples(recorded);
  if (samples.size() < ReplayRun::kLeastValues) return unfit(Unfit::has_few_values);
  ReplayRun& run = reading.run;
  run.started = recorded.started;
  run.seconds = *recorded.finished - recorded.started;
  if (!(run.seconds >= kShortestLook)) return unfit(Unfit::has_gaps);
  run.cores = 0;
  const double longest = std::max(kLongestGap, kLongestGapShare * run.seconds);
  Used used{{recorded.started}, {0}};
  for (const RecordedUse& look : recorded.usage) {
    const double elapsed = look.time - used.times.back();
    const double share = std::clamp(look.cpu, 0.0, 1.0);
    if (!(elapsed > 0) || look.time > *recorded.finished) continue;
    if (elapsed > longest) return unfit(Unfit::has_gaps);
    used.add(look.time, share * cores);
    if (elapsed >= kShortestLook) run.cores = std::max(run.cores, share * cores);
  }
  // After the last look it went on as before.
  const double rest = *recorded.finished - used.times.back();
  if (!(rest <= longest) || used.times.size() < 2) return unfit(Unfit::has_gaps);
  const std::size_t last = used.times.size() - 1;
  const double rate =
      (used.sums[last] - used.sums[last - 1]) / (used.times[last] - used.times[last - 1]);
  if (rest > 0) used.add(*recorded.finished, rate);
  run.work = used.sums.back();
  if (!(run.work > 0) || !(run.cores >= ReplayRun::kLeastCores)) return unfit(Unfit::used_nothing);
  run.goal = recorded.goal;
  run.values = static_cast<std::uint32_t>(std::min<std::size_t>(samples.size(), 1'000'000'000));
  for (const ctrl::Sample& sample : evenly(samples, ReplayRun::kMostPoints)) {
    run.points.push_back({used.at(sample.time) / run.work, sample.value});
  }
  return reading;
}

Schedule replay_schedule(const std::vector<ReplayRun>& runs, double cores, std::uint64_t seed) {
  Schedule schedule;
  schedule.name = "replay";
  schedule.hosts.push_back({cores, HostSpec().memory});
  schedule.seed = seed;
  if (runs.empty()) return schedule;
  double begin = runs.front().started;
  for (const ReplayRun& run : runs) begin = std::min(begin, run.started);
  Random random(seed);
  for (const ReplayRun& run : runs) {
    const ReplayRun& what = seed == 0 ? run : runs[random.below(runs.size())];
    schedule.jobs.push_back(job_of(what, cores));
    schedule.jobs.back().arrival = run.started - begin;
  }
  std::stable_sort(schedule.jobs.begin(), schedule.jobs.end(),
                   [](const JobSpec& a, const JobSpec& b) { return a.arrival < b.arrival; });
  return schedule;
}

}  // namespace flowcon::sim
