// SPDX-License-Identifier: Apache-2.0
#include "ctrl/growth/growth.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ctrl/growth/trend.h"

namespace flowcon::ctrl::growth {
namespace {

constexpr std::size_t kHeadValues = 5;

// Points before the interval that tell the noise where the interval itself holds few.
constexpr std::size_t kNoisePoints = 32;

// A move away from the goal is called diverging above this share of the metric's level; a slow
// drift on a plateau is none.
constexpr double kClearMove = 0.05;

// A job is measured against at least this share of the interval: values printed in one burst say
// little about a rate.
constexpr double kLeastHorizon = 0.5;

double finite(double number) {
  constexpr double kMost = std::numeric_limits<double>::max();
  return std::clamp(number, -kMost, kMost);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  const double below = *std::max_element(values.begin(), middle);
  return below / 2 + *middle / 2;
}

// The samples from the last one at or before `from` up to `to`: [first, last).
struct Window {
  std::size_t first = 0;
  std::size_t last = 0;
  bool has_start = false;  // the first one is E(from)
};

Window window_of(const std::vector<Sample>& samples, double from, double to) {
  const auto later = [](double time, const Sample& sample) { return time < sample.time; };
  const auto after_from = std::upper_bound(samples.begin(), samples.end(), from, later);
  const auto after_to = std::upper_bound(after_from, samples.end(), to, later);
  Window window;
  window.first = static_cast<std::size_t>(after_from - samples.begin());
  window.last = static_cast<std::size_t>(after_to - samples.begin());
  window.has_start = window.first > 0;
  if (window.has_start) --window.first;
  return window;
}

// Positive: towards the goal.
double towards(Goal goal, double change) { return goal == Goal::min ? -change : change; }

Progress paper_progress(const std::vector<Sample>& samples, const Window& window, double seconds,
                        Goal goal, double scale, bool directed) {
  if (!window.has_start || !std::isfinite(samples[window.first].value)) return {};
  const double change = samples[window.last - 1].value - samples[window.first].value;
  if (directed && towards(goal, change) <= 0) return {Verdict::measured, 0.0};
  return {Verdict::measured, finite(std::abs(change) / seconds / scale)};
}

// The finite values of the window, and the last finite ones before it as far as the noise needs
// them; values divided by the largest magnitude so that no difference overflows.
struct Points {
  std::vector<Sample> trend;
  std::vector<Sample> noise;
  double unit = 0;   // the largest magnitude
  double range = 0;  // largest minus smallest of the trend's values, in that unit
};

Points points_of(const std::vector<Sample>& samples, const Window& window) {
  Points points;
  for (std::size_t i = window.first; i < window.last; ++i) {
    if (std::isfinite(samples[i].value)) points.trend.push_back(samples[i]);
  }
  for (std::size_t i = window.first;
       i > 0 && points.trend.size() + points.noise.size() < kNoisePoints; --i) {
    if (std::isfinite(samples[i - 1].value)) points.noise.push_back(samples[i - 1]);
  }
  std::reverse(points.noise.begin(), points.noise.end());
  for (const auto* part : {&points.trend, &points.noise}) {
    for (const Sample& sample : *part) points.unit = std::max(points.unit, std::abs(sample.value));
  }
  if (points.unit == 0) points.unit = 1;
  for (auto* part : {&points.trend, &points.noise}) {
    for (Sample& sample : *part) sample.value /= points.unit;
  }
  const auto [low, high] =
      std::minmax_element(points.trend.begin(), points.trend.end(),
                          [](const Sample& a, const Sample& b) { return a.value < b.value; });
  points.range = high->value - low->value;
  return points;
}

Progress robust_progress(const std::vector<Sample>& samples, const Window& window, double from,
                         double to, Goal goal, double scale, bool directed) {
  Points points = points_of(samples, window);
  const double origin = points.trend.front().time;
  const double horizon = std::max(points.trend.back().time - origin, kLeastHorizon * (to - from));
  for (auto* part : {&points.trend, &points.noise}) {
    for (Sample& sample : *part) sample.time = (sample.time - origin) / horizon;
  }

  const std::optional<Trend> trend = trend_of(points.trend, points.noise);
  // Silence is not convergence: without a new value nothing is known.
  if (!trend) return {};
  // A burst must not look steeper than all that was seen, over the horizon.
  const double slope = std::clamp(trend->slope, -points.range, points.range);
  // Back from shares of the horizon and of the largest value to seconds and units of the scale.
  const double rate = finite(slope * (points.unit / scale) / horizon);
  if (!directed) return {Verdict::measured, std::abs(rate)};
  if (towards(goal, rate) > 0) return {Verdict::measured, std::abs(rate)};
  const bool diverges = trend->is_clear && std::abs(trend->slope) > kClearMove * trend->level;
  return {diverges ? Verdict::diverging : Verdict::measured, 0.0};
}

std::optional<double> share(const std::optional<double>& rate, double use) {
  if (!rate || !(use > 0) || !std::isfinite(use)) return std::nullopt;
  return finite(*rate / use);
}

}  // namespace

std::optional<double> scale_of(const Scale& seen, Normalise how) {
  double scale = 1;
  if (how == Normalise::first) {
    std::vector<double> first;
    for (const Sample& sample : seen.head) {
      if (std::isfinite(sample.value) && sample.value != 0) first.push_back(sample.value);
      if (first.size() == kHeadValues) break;
    }
    if (first.empty()) return std::nullopt;
    scale = std::abs(median(std::move(first)));
  } else if (how == Normalise::range) {
    scale = finite(seen.high - seen.low);
  }
  if (!(scale > 0)) return std::nullopt;
  return scale;
}

Progress progress_between(const std::vector<Sample>& samples, double from, double to, Goal goal,
                          double scale, const Parameters& parameters) {
  if (!(to - from > 0) || !std::isfinite(to - from)) return {};
  const Window window = window_of(samples, from, to);
  if (window.first == window.last) return {};
  if (!std::isfinite(samples[window.last - 1].value)) return {Verdict::diverging, 0.0};
  if (!(scale > 0) || !std::isfinite(scale)) return {};
  return parameters.estimator == Estimator::paper
             ? paper_progress(samples, window, to - from, goal, scale, parameters.directed)
             : robust_progress(samples, window, from, to, goal, scale, parameters.directed);
}

Efficiency efficiency(const Progress& progress, const Usage& use) {
  Efficiency all;
  for (const Resource resource : kResources) all[resource] = share(progress.rate, use[resource]);
  return all;
}

}  // namespace flowcon::ctrl::growth
