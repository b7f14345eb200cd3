// SPDX-License-Identifier: Apache-2.0
#include "ctrl/estimate/check.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

namespace flowcon::ctrl::estimate {
namespace {

constexpr std::size_t kFirstRows = 20;

// Logarithms of a run's value and of what was expected.
struct Compared {
  double measured = 0;
  double expected = 0;
  bool is_above = false;
};

using ByLabel = std::map<std::string, std::vector<Compared>>;

// Where each training would have been: so many rows it had learnt from.
std::vector<std::size_t> trainings(std::size_t rows) {
  std::vector<std::size_t> all;
  for (std::size_t known = kFirstRows, next = kFirstRows; next < rows; ++next) {
    if (all.empty() || is_worth_training(next - known, next)) {
      known = next;
      all.push_back(next);
    }
  }
  return all;
}

void compare(const Profile& run, const std::vector<LabelEstimate>& estimates, ByLabel& found) {
  for (const LabelEstimate& estimate : estimates) {
    if (!estimate.expected || !estimate.upper) continue;
    const auto value =
        std::find_if(run.labels.begin(), run.labels.end(),
                     [&estimate](const auto& label) { return label.first == estimate.label; });
    if (value == run.labels.end()) continue;
    found[estimate.label].push_back(
        {std::log(value->second), std::log(*estimate.expected), value->second > *estimate.upper});
  }
}

LabelCheck check_of(const std::string& label, const std::vector<Compared>& compared) {
  LabelCheck check{label, compared.size(), {}, 0};
  const auto count = static_cast<double>(compared.size());
  double mean = 0;
  for (const Compared& one : compared) mean += one.measured / count;
  double wrong = 0, spread = 0;
  for (const Compared& one : compared) {
    wrong += (one.measured - one.expected) * (one.measured - one.expected);
    spread += (one.measured - mean) * (one.measured - mean);
    check.above += one.is_above ? 1 / count : 0;
  }
  if (spread > 1e-12 * count) check.r2 = 1 - wrong / spread;
  return check;
}

}  // namespace

EstimateCheck check_estimates(const std::vector<Profile>& history, double quantile,
                              std::uint64_t seed, const std::function<bool()>& goes_on) {
  EstimateCheck check;
  ByLabel found;
  const std::vector<std::size_t> all = trainings(history.size());
  std::size_t end = history.size();
  for (auto known = all.rbegin(); known != all.rend(); end = *known++) {
    if (end < history.size() && !goes_on()) break;
    const std::vector<Profile> before(
        history.begin(), std::next(history.begin(), static_cast<std::ptrdiff_t>(*known)));
    Estimator estimator(before, quantile, seed);
    for (std::size_t i = *known; i < end; ++i) {
      const Profile& run = history[i];
      compare(run, estimator.estimate({"", run.family, run.key, run.features}), found);
    }
    check.runs += end - *known;
  }
  for (const Profile& run : history) {
    for (const auto& [label, value] : run.labels) {
      const auto compared = found.find(label);
      if (compared == found.end()) continue;
      check.labels.push_back(check_of(label, compared->second));
      found.erase(compared);
    }
  }
  return check;
}

}  // namespace flowcon::ctrl::estimate
