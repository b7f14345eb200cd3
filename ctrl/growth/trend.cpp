// SPDX-License-Identifier: Apache-2.0
#include "ctrl/growth/trend.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace flowcon::ctrl::growth {
namespace {

constexpr std::size_t kMaxPoints = 128;
constexpr std::size_t kLeastTriples = 3;
constexpr std::ptrdiff_t kSortedPairs = 32;

// Standard errors below which a slope counts as noise, and above which it is clear.
constexpr double kCertainty = 2;
constexpr double kClear = 5;

// Pairs closer than this say more about the clock than about the job.
constexpr double kLeastApart = 1e-6;

// A median distance of normal noise times this is its standard deviation.
constexpr double kNormal = 1.4826;

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

// Groups of neighbours, each replaced by its mean time and median value. The first point is E(from)
// and stays itself.
std::vector<Sample> thinned(const std::vector<Sample>& points) {
  if (points.size() <= kMaxPoints) return points;
  std::vector<Sample> few{points.front()};
  const std::size_t rest = points.size() - 1;
  std::vector<double> values;
  for (std::size_t block = 0; block < kMaxPoints - 1; ++block) {
    const std::size_t begin = 1 + block * rest / (kMaxPoints - 1);
    const std::size_t end = 1 + (block + 1) * rest / (kMaxPoints - 1);
    values.clear();
    double time = 0;
    for (std::size_t i = begin; i < end; ++i) {
      values.push_back(points[i].value);
      time += points[i].time / static_cast<double>(end - begin);
    }
    few.push_back({time, median_of(values)});
  }
  return few;
}

struct Pair {
  double slope;
  double weight;
};

// As an object, so that the compiler sees through it: thousands of pairs per job are compared.
constexpr auto is_flatter = [](const Pair& a, const Pair& b) { return a.slope < b.slope; };

using PairIterator = std::vector<Pair>::iterator;

double weight_of(PairIterator begin, PairIterator end) {
  double sum = 0;
  for (auto pair = begin; pair != end; ++pair) sum += pair->weight;
  return sum;
}

// The slope at half of the total weight, interpolated between the pairs' middles: a mirrored series
// has the mirrored slope, and a rounding of the times moves it by no more than a rounding.
// Thousands of pairs per job are not sorted for it: halving the range around the place in question
// until it is short costs time linear in their number.
double weighted_median(std::vector<Pair>& pairs) {
  const double half = weight_of(pairs.begin(), pairs.end()) / 2;
  double below = 0;  // the weight before `begin`
  auto begin = pairs.begin();
  auto end = pairs.end();
  while (end - begin > kSortedPairs) {
    const auto middle = begin + (end - begin) / 2;
    std::nth_element(begin, middle, end, is_flatter);
    const double lower = weight_of(begin, middle);
    if (below + lower >= half) {
      end = middle;
    } else {
      below += lower;
      begin = middle;
    }
  }
  // The place lies between two pairs' middles, and one of the two may be the neighbour outside.
  if (begin != pairs.begin()) {
    const auto neighbour = std::max_element(pairs.begin(), begin, is_flatter);
    std::iter_swap(--begin, neighbour);
    below -= begin->weight;
  }
  if (end != pairs.end()) {
    std::iter_swap(end, std::min_element(end, pairs.end(), is_flatter));
    ++end;
  }
  std::sort(begin, end, is_flatter);
  for (auto pair = begin; pair + 1 != end; ++pair) {
    const double middle = below + pair->weight / 2;
    const double next = below + pair->weight + (pair + 1)->weight / 2;
    below += pair->weight;
    if (middle >= half) return pair->slope;
    if (next < half) continue;
    return pair->slope + (half - middle) / (next - middle) * ((pair + 1)->slope - pair->slope);
  }
  return (end - 1)->slope;
}

// Standard deviation of the noise; empty where there are too few points to tell.
std::optional<double> noise_of(const std::vector<Sample>& before,
                               const std::vector<Sample>& points) {
  std::vector<Sample> all = before;
  all.insert(all.end(), points.begin(), points.end());
  std::vector<double> distances;
  for (std::size_t i = 1; i + 1 < all.size(); ++i) {
    const double span = all[i + 1].time - all[i - 1].time;
    const double weight = span > 0 ? (all[i].time - all[i - 1].time) / span : 0.5;
    const double line = (1 - weight) * all[i - 1].value + weight * all[i + 1].value;
    const double spread = std::sqrt(1 + weight * weight + (1 - weight) * (1 - weight));
    distances.push_back(std::abs(all[i].value - line) / spread);
  }
  if (distances.size() < kLeastTriples) return std::nullopt;
  return kNormal * median_of(distances);
}

double time_spread(const std::vector<Sample>& points) {
  double mean = 0;
  for (const Sample& point : points) mean += point.time / static_cast<double>(points.size());
  double sum = 0;
  for (const Sample& point : points) sum += (point.time - mean) * (point.time - mean);
  return std::sqrt(sum);
}

}  // namespace

std::optional<Trend> trend_of(const std::vector<Sample>& points,
                              const std::vector<Sample>& before) {
  const std::vector<Sample> few = thinned(points);
  std::vector<Pair> pairs;
  pairs.reserve(few.size() * few.size() / 2);
  std::vector<double> levels;
  for (std::size_t i = 0; i < few.size(); ++i) {
    levels.push_back(std::abs(few[i].value));
    for (std::size_t j = i + 1; j < few.size(); ++j) {
      const double apart = few[j].time - few[i].time;
      if (apart > kLeastApart) pairs.push_back({(few[j].value - few[i].value) / apart, apart});
    }
  }
  if (pairs.empty()) return std::nullopt;

  Trend trend;
  trend.level = median_of(levels);
  trend.slope = weighted_median(pairs);
  const std::optional<double> noise = noise_of(before, few);
  if (!noise || trend.slope == 0) return trend;
  const double error = *noise / time_spread(few);
  const double doubt = error / std::abs(trend.slope);
  trend.is_clear = kClear * doubt < 1;
  trend.slope *= std::max(0.0, 1 - kCertainty * doubt * kCertainty * doubt);
  return trend;
}

}  // namespace flowcon::ctrl::growth
