// SPDX-License-Identifier: Apache-2.0
#include "sim/estimate/score.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>

#include "base/random.h"

namespace flowcon::sim::estimate {
namespace {

using ctrl::estimate::Estimator;
using ctrl::estimate::Features;
using ctrl::estimate::Profile;
using Values = std::vector<double>;

constexpr double kQuantile = 0.9;
constexpr std::size_t kNeighbours = 5;

double label_of(const Profile& row) { return row.labels.front().second; }

// Of an even number the mean of the middle two.
double median_of(Values values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Score score_of(const Values& expected, const Values& actual) {
  Values logarithms;
  for (const double value : actual) logarithms.push_back(std::log(value));
  const double mean = std::accumulate(logarithms.begin(), logarithms.end(), 0.0) /
                      static_cast<double>(logarithms.size());
  double missed = 0, spread = 0;
  Values errors;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    missed += std::pow(std::log(expected[i]) - logarithms[i], 2);
    spread += std::pow(logarithms[i] - mean, 2);
    errors.push_back(std::fabs(expected[i] / actual[i] - 1));
  }
  return {spread > 0 ? 1 - missed / spread : 0, median_of(std::move(errors))};
}

// Runs are as near as their features are alike: numbers by their logarithms in units of their
// spread, texts equal or 1 apart.
class Neighbours {
 public:
  explicit Neighbours(const std::vector<Profile>& history) : history_(history) {
    std::map<std::string, Values> numbers;
    for (const Profile& row : history) {
      for (const auto& [name, value] : row.features) {
        if (const double* number = std::get_if<double>(&value)) {
          numbers[name].push_back(std::asinh(*number));
        }
      }
    }
    for (const auto& [name, values] : numbers) {
      const auto count = static_cast<double>(values.size());
      const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
      double squares = 0;
      for (const double value : values) squares += std::pow(value - mean, 2);
      spread_[name] = std::sqrt(squares / count);
    }
  }

  [[nodiscard]] double expected(const Profile& job) const {
    std::vector<std::pair<double, double>> nearest;  // distance, logarithm
    for (const Profile& row : history_) {
      nearest.emplace_back(distance(job, row), std::log(label_of(row)));
    }
    const std::size_t count = std::min(kNeighbours, nearest.size());
    std::partial_sort(nearest.begin(), nearest.begin() + static_cast<std::ptrdiff_t>(count),
                      nearest.end());
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += nearest[i].second;
    return std::exp(sum / static_cast<double>(count));
  }

 private:
  [[nodiscard]] double distance(const Profile& a, const Profile& b) const {
    double squares = a.family == b.family ? 0 : 1;
    for (const auto& [name, value] : a.features) {
      const auto same = std::find_if(b.features.begin(), b.features.end(),
                                     [&](const auto& other) { return other.first == name; });
      const auto spread = spread_.find(name);
      if (same == b.features.end()) {
        squares += 1;
      } else if (value.index() != same->second.index() || spread == spread_.end()) {
        squares += value == same->second ? 0 : 1;
      } else if (spread->second > 0) {
        const double apart =
            std::asinh(std::get<double>(value)) - std::asinh(std::get<double>(same->second));
        squares += std::pow(apart / spread->second, 2);
      }
    }
    return squares;
  }

  const std::vector<Profile>& history_;
  std::map<std::string, double> spread_;
};

std::vector<const Profile*> kin_of(const Profile& job, const std::vector<Profile>& history) {
  std::vector<const Profile*> kin, all;
  for (const Profile& row : history) {
    all.push_back(&row);
    if (row.family == job.family) kin.push_back(&row);
  }
  return kin.empty() ? all : kin;
}

}  // namespace

Scores score(const std::vector<Profile>& rows, std::size_t history, std::uint64_t seed) {
  std::vector<Profile> drawn = rows;
  Random random(seed);
  for (std::size_t i = 0; i < kHeldOut + history; ++i) {
    std::swap(drawn[i], drawn[i + random.below(drawn.size() - i)]);
  }
  const auto first = drawn.begin() + kHeldOut;
  const std::vector<Profile> known(first, first + static_cast<std::ptrdiff_t>(history));
  Estimator estimator(known, kQuantile, seed);
  const Neighbours neighbours(known);
  Values actual, forest, upper_ratios, nearest, medians, lasts;
  Scores scores;
  for (auto job = drawn.begin(); job != first; ++job) {
    actual.push_back(label_of(*job));
    const auto estimates = estimator.estimate({"", job->family, job->key, job->features});
    forest.push_back(*estimates.front().expected);
    upper_ratios.push_back(*estimates.front().upper / actual.back());
    if (upper_ratios.back() < 1) scores.above += 1.0 / kHeldOut;
    nearest.push_back(neighbours.expected(*job));
    const std::vector<const Profile*> kin = kin_of(*job, known);
    Values values;
    for (const Profile* row : kin) values.push_back(label_of(*row));
    medians.push_back(median_of(std::move(values)));
    const auto is_later = [](const Profile* a, const Profile* b) { return a->age < b->age; };
    lasts.push_back(label_of(**std::min_element(kin.begin(), kin.end(), is_later)));
  }
  scores.forest = score_of(forest, actual);
  scores.upper_ratio = median_of(std::move(upper_ratios));
  scores.neighbours = score_of(nearest, actual);
  scores.median = score_of(medians, actual);
  scores.last = score_of(lasts, actual);
  return scores;
}

Scores mean_of(const std::vector<Scores>& scores) {
  Scores mean;
  const double share = 1.0 / static_cast<double>(scores.size());
  const auto add = [share](Score& sum, const Score& more) {
    sum.r2 += more.r2 * share;
    sum.error += more.error * share;
  };
  for (const Scores& one : scores) {
    add(mean.forest, one.forest);
    mean.above += one.above * share;
    mean.upper_ratio += one.upper_ratio * share;
    add(mean.neighbours, one.neighbours);
    add(mean.median, one.median);
    add(mean.last, one.last);
  }
  return mean;
}

}  // namespace flowcon::sim::estimate
