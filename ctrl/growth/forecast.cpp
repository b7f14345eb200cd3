// SPDX-License-Identifier: Apache-2.0
#include "ctrl/growth/forecast.h"

#include <algorithm>
#include <cmath>

namespace flowcon::ctrl::growth {
namespace {

constexpr std::size_t kLastCounts = 24;  // that tell the pace
constexpr double kMostPace = 1e15;       // CPU seconds for the whole: no counter's that moves
// Imports and data before the first step: in units of the least work, and at most as a share.
constexpr double kStartup = 20;
constexpr double kMostStartup = 0.8;
constexpr std::size_t kWideWindow = 6;    // values on either side
constexpr std::size_t kNarrowWindow = 2;  // the same
constexpr std::size_t kFewValues = 4;     // fewer say nothing of a shape
constexpr double kSameEnd = 0.03;         // share; ends that differ by less are one
constexpr double kLeastShare = 1e-3;      // of all work, for 90 % of the gain as remembered
// What is expected of a job that has outlived its counter or the runs before it, as a share of the
// work since then (or in all).
constexpr double kAfterCounter = 0.5;
constexpr double kAfterMemory = 0.25;

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The median of each value and `window` on either side of it, fewer at the ends.
std::vector<WorkPoint> smoothed(const std::vector<WorkPoint>& values, std::size_t window) {
  std::vector<WorkPoint> smooth;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t reach = std::min({window, i, values.size() - 1 - i});
    std::vector<double> near;
    for (std::size_t k = i - reach; k <= i + reach; ++k) near.push_back(values[k].value);
    smooth.push_back({values[i].work, median(near)});
  }
  return smooth;
}

// CPU seconds for one whole, by the last counts; empty where they do not tell, as those of a job
// whose log was read, and not its CPU time: all of them stand where it began.
std::optional<double> pace_of(const Track& track, double startup) {
  const std::vector<WorkPoint>& counts = track.counts();
  const std::size_t first = counts.size() > kLastCounts ? counts.size() - kLastCounts : 0;
  std::vector<double> slopes;
  for (std::size_t i = first; i < counts.size(); ++i) {
    for (std::size_t j = i + 1; j < counts.size(); ++j) {
      const double done = counts[j].value - counts[i].value;
      if (done > 0) slopes.push_back((counts[j].work - counts[i].work) / done);
    }
  }
  if (slopes.empty()) {
    // One count: the work since its beginning made it, but for what was done before the first step.
    if (counts.empty() || !(counts.back().value > 0)) return std::nullopt;
    const double work = counts.back().work - track.begun();
    slopes.push_back((work - std::min(kMostStartup * work, startup)) / counts.back().value);
  }
  const double pace = median(slopes);
  return pace > 0 && pace <= kMostPace ? std::optional(pace) : std::nullopt;
}

std::optional<double> left_by_counter(const Track& track, double least, Chances& kept) {
  const std::vector<WorkPoint>& counts = track.counts();
  if (track.is_cyclic() || counts.empty()) return std::nullopt;
  if (kept.pace_version != track.version()) {
    kept.pace_version = track.version();
    kept.pace = pace_of(track, kStartup * least);
  }
  const std::optional<double> pace = kept.pace;
  if (!pace) return std::nullopt;
  const WorkPoint& last = counts.back();
  const double since = std::max(0.0, track.used() - last.work);
  const double left = (1 - last.value) * *pace - since;
  // It was to be at its end: an evaluation, a model that is saved.
  return std::max({left, kAfterCounter * std::max(0.0, -left), least});
}

// Where 90 % of what is gained from the first value up to `end` may be there.
std::vector<WorkChance> chances_of(const Track& track, Goal goal, double end,
                                   const std::optional<Remembered>& earlier) {
  std::vector<WorkPoint> points = track.values();
  double begin = 0;
  if (!points.empty()) begin = points.front().work;
  for (WorkPoint& point : points) point.work -= begin;
  std::optional<double> remembered;
  if (earlier && earlier->share90) {
    remembered = std::max(*earlier->share90 * end - begin, kLeastShare * end);
  }
  std::vector<WorkChance> chances =
      work_to_90(points, goal, std::max(end - begin, 1e-9), remembered);
  for (WorkChance& chance : chances) chance.work += begin;
  return chances;
}

// The least work per chance, and the chance that there is something to come.
void take_chances(const std::vector<WorkChance>& chances, double used, double least,
                  Forecast& forecast) {
  double chance = 0;
  for (const WorkChance& next : chances) {
    if (next.work <= used) continue;
    chance += next.weight;
    const double price = std::max(next.work - used, least) / chance;
    if (!forecast.left90 || price < *forecast.left90) forecast.left90 = price;
  }
  forecast.open90 = std::min(chance, 1.0);  // a sum of shares may round to more
  if (!forecast.left90) forecast.left90 = 0;
}

Remembered medians_of(const std::vector<Remembered>& runs) {
  std::vector<double> totals;
  std::vector<double> shares;
  for (const Remembered& run : runs) {
    totals.push_back(run.total);
    if (run.share90) shares.push_back(*run.share90);
  }
  Remembered all;
  all.total = median(totals);
  if (!shares.empty()) all.share90 = median(shares);
  return all;
}

// The work that is left. What is to be known of the shape is said in `kept`, but not worked out.
WorkLeft left_and_due(const Track& track, const std::optional<Remembered>& earlier, double least,
                      Chances& kept) {
  WorkLeft found;
  const double used = track.used();
  if (const std::optional<double> left = left_by_counter(track, least, kept)) {
    found = {Basis::counter, *left};
  } else if (earlier) {
    found = {Basis::memory, std::max({earlier->total - used, kAfterMemory * used, least})};
  } else {
    found = {Basis::age, std::max(used, least)};
  }
  if (track.values().size() < kFewValues && found.basis == Basis::age) return found;
  const double end = used + found.left;
  const bool is_alike = std::fabs(end - kept.end) <= kSameEnd * end;
  if (kept.version != track.version() || !is_alike) {
    kept.version = track.version();
    kept.end = end;
    kept.earlier = earlier;
    kept.is_due = true;
  }
  return found;
}

}  // namespace

void RunMemory::remember(const std::string& key, const Remembered& run) {
  if (!trainings_.contains(key) && trainings_.size() >= kMaxTrainings) {
    trainings_.erase(std::min_element(
        trainings_.begin(), trainings_.end(),
        [](const auto& a, const auto& b) { return a.second.turn < b.second.turn; }));
  }
  Runs& runs = trainings_[key];
  runs.turn = ++turn_;
  runs.runs.push_back(run);
  if (runs.runs.size() > kMaxRuns) runs.runs.erase(runs.runs.begin());
  runs.medians = medians_of(runs.runs);
}

std::optional<Remembered> RunMemory::recall(const std::string& key) const {
  const auto found = trainings_.find(key);
  return found == trainings_.end() ? std::nullopt : std::optional(found->second.medians);
}

std::optional<Remembered> remembered_run(const Track& track, Goal goal) {
  if (!(track.used() > 0)) return std::nullopt;
  Remembered run;
  run.total = track.used();
  const std::vector<WorkPoint>& values = track.values();
  if (values.size() < 5) return run;
  // Medians of neighbours: noise is not the best of the run, and one wild value is not its end.
  const double sign = goal == Goal::min ? -1 : 1;
  const double first = values.front().value;
  double best = 0;
  for (const WorkPoint& point : smoothed(values, kWideWindow)) {
    best = std::max(best, sign * (point.value - first));
  }
  if (!(best > 0)) return run;
  for (const WorkPoint& point : smoothed(values, kNarrowWindow)) {
    if (sign * (point.value - first) < kUsable * best) continue;
    run.share90 = std::min(1.0, point.work / run.total);
    break;
  }
  return run;
}

WorkLeft left_of(const Track& track, const std::optional<Remembered>& earlier, double least,
                 Chances* kept) {
  Chances fresh;
  return left_and_due(track, earlier, least, kept != nullptr ? *kept : fresh);
}

Forecast forecast_of(const Track& track, Goal goal, const std::optional<Remembered>& earlier,
                     double least, Chances* kept) {
  Chances fresh;
  Chances& chances = kept != nullptr ? *kept : fresh;
  Forecast forecast;
  const WorkLeft found = left_and_due(track, earlier, least, chances);
  forecast.basis = found.basis;
  forecast.left = found.left;
  forecast.is_first = !earlier;
  if (track.values().size() >= kFewValues || forecast.basis != Basis::age) {
    if (chances.is_due) {
      chances.chances = chances_of(track, goal, chances.end, chances.earlier);
      chances.is_due = false;
    }
    take_chances(chances.chances, track.used(), least, forecast);
  }
  return forecast;
}

}  // namespace flowcon::ctrl::growth
