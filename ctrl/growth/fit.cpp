// SPDX-License-Identifier: Apache-2.0
#include "ctrl/growth/fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace flowcon::ctrl::growth {
namespace {

constexpr int kTimes = 30;          // tried, evenly in the logarithm
constexpr double kShortest = 0.01;  // of the horizon
constexpr double kLongest = 3;      // of the horizon
constexpr double kUsual = 0.12;     // of the horizon
// of its logarithm
constexpr double kSpread = 1.6;
constexpr double kRememberedSpread = 0.15;
// A power expects much more to come than an exponential; it has to fit that much better, in the
// logarithm of the weight.
constexpr double kPowerHandicap = 2;
// The curves of real trainings are none of the two exactly, and their noise is not independent: the
// values weigh less than they would if all of that held.
constexpr double kTrust = 1;
constexpr double kNegligible = 1e-4;
constexpr std::size_t kFewest = 4;  // points; fewer fit anything
constexpr std::size_t kMostPoints = 48;
constexpr double kExact = 1e-3;  // share of the range; no fit counts as better than that

// Curves that are fitted side by side: a sum waits for itself, four do not wait for each other. The
// numbers are those of one by one.
constexpr std::size_t kLanes = 4;
constexpr std::size_t kCurves = 2 * kTimes;
static_assert(kCurves % kLanes == 0);

using Pair = double __attribute__((vector_size(2 * sizeof(double))));

// One number for each. In two pairs, which stay in registers everywhere; gcc 12 keeps wider vectors
// in memory where the processor's baseline has none so wide.
struct Lanes {
  Pair low{};
  Pair high{};

  static Lanes all(double value) { return {Pair{value, value}, Pair{value, value}}; }
  [[nodiscard]] double at(std::size_t k) const { return k < 2 ? low[k] : high[k - 2]; }

  friend Lanes operator+(const Lanes& a, const Lanes& b) {
    return {a.low + b.low, a.high + b.high};
  }
  friend Lanes operator-(const Lanes& a, const Lanes& b) {
    return {a.low - b.low, a.high - b.high};
  }
  friend Lanes operator*(const Lanes& a, const Lanes& b) {
    return {a.low * b.low, a.high * b.high};
  }
  friend Lanes operator/(const Lanes& a, const Lanes& b) {
    return {a.low / b.low, a.high / b.high};
  }
};

Pair magnitude(const Pair& a) { return a < 0 ? -a : a; }
// 1 for what is no number, too.
Pair at_least_one(const Pair& a) { return a > 1 ? a : Pair{1, 1}; }
Pair quotient_or_none(const Pair& a, const Pair& b) { return b > 0 ? a / b : Pair{}; }

// Evenly fewer, the first and the last always.
std::vector<WorkPoint> thinned(const std::vector<WorkPoint>& points) {
  if (points.size() <= kMostPoints) return points;
  std::vector<WorkPoint> kept;
  kept.reserve(kMostPoints);
  for (std::size_t i = 0; i < kMostPoints; ++i) {
    kept.push_back(points[i * (points.size() - 1) / (kMostPoints - 1)]);
  }
  return kept;
}

struct Basis {
  bool is_power = false;
  double time = 1;
  [[nodiscard]] double decay(double w) const { return decay_at(w / time); }
  [[nodiscard]] double decay_at(double times) const {
    return is_power ? 1 / (1 + times) : std::exp(-times);
  }
  [[nodiscard]] double work_at(double decay) const {
    return is_power ? time * (1 / decay - 1) : -time * std::log(decay);
  }
};

// A curve that is tried, in shares of the horizon, and how far it is from what is usual.
struct Tried {
  bool is_power = false;
  double share = 0;
  double off = 0;
};

std::array<Tried, kCurves> tried_curves() {
  std::array<Tried, kCurves> tried;
  for (std::size_t i = 0; i < kCurves; ++i) {
    const auto k = static_cast<int>(i % kTimes);
    const double share = kShortest * std::pow(kLongest / kShortest, k / (kTimes - 1.0));
    tried[i] = {i >= kTimes, share, std::log(share / kUsual) / kSpread};
  }
  return tried;
}

// How well the points lie on curves, `kLanes` at a time.
class Fitter {
 public:
  Fitter(const std::vector<WorkPoint>& points, Goal goal) : points_(thinned(points)), goal_(goal) {
    if (points_.empty()) return;
    const auto less = [](const WorkPoint& a, const WorkPoint& b) { return a.value < b.value; };
    const auto [low, high] = std::minmax_element(points_.begin(), points_.end(), less);
    exact_ = std::max(kExact * (high->value - low->value), 1e-300);
  }

  // Logarithms of the weights, lower is better; empty where a curve leads away from the goal.
  std::array<std::optional<double>, kLanes> judge(const Basis* curves) {
    std::array<std::optional<double>, kLanes> scores;
    scores.fill(0);
    const std::size_t n = points_.size();
    if (n < kFewest) return scores;
    const Lanes one = Lanes::all(1);
    const Lanes time = {Pair{curves[0].time, curves[1].time}, Pair{curves[2].time, curves[3].time}};
    for (std::size_t i = 0; i < n; ++i) {
      const Lanes times = Lanes::all(points_[i].work) / time;
      // Powers come last: where the first is one, all are.
      if (curves[0].is_power) {
        basis_[i] = one / (one + times);
      } else {
        basis_[i] = {Pair{curves[0].decay_at(times.at(0)), curves[1].decay_at(times.at(1))},
                     Pair{curves[2].decay_at(times.at(2)), curves[3].decay_at(times.at(3))}};
      }
      weights_[i] = one;
    }
    solve();
    const Lanes twice = Lanes::all(2) * error_;
    // Without an error, or with one that is no number, all weights are one again.
    for (std::size_t i = 0; i < n; ++i) {
      const Lanes far = errors_[i] / twice;
      weights_[i] = one / Lanes{at_least_one(far.low), at_least_one(far.high)};
    }
    solve();
    for (std::size_t k = 0; k < kLanes; ++k) {
      const bool leads = goal_ == Goal::min ? way_.at(k) > 0 : way_.at(k) < 0;
      scores[k].reset();
      if (std::isfinite(error_.at(k)) && leads) {
        scores[k] = static_cast<double>(n) * std::log(error_.at(k) + exact_);
      }
    }
    return scores;
  }

 private:
  // Weighted least squares of value = level + way * basis, and what is off.
  void solve() {
    const std::size_t n = points_.size();
    Lanes w;
    Lanes x;
    Lanes y;
    for (std::size_t i = 0; i < n; ++i) {
      w = w + weights_[i];
      x = x + weights_[i] * basis_[i];
      y = y + weights_[i] * Lanes::all(points_[i].value);
    }
    x = x / w;
    y = y / w;
    Lanes xx;
    Lanes xy;
    for (std::size_t i = 0; i < n; ++i) {
      const Lanes away = basis_[i] - x;
      const Lanes pull = weights_[i] * away;
      xx = xx + pull * away;
      xy = xy + pull * (Lanes::all(points_[i].value) - y);
    }
    way_ = {quotient_or_none(xy.low, xx.low), quotient_or_none(xy.high, xx.high)};
    const Lanes way = way_;
    const Lanes level = y - way * x;
    Lanes sum;
    for (std::size_t i = 0; i < n; ++i) {
      const Lanes error = Lanes::all(points_[i].value) - level - way * basis_[i];
      errors_[i] = {magnitude(error.low), magnitude(error.high)};
      sum = sum + errors_[i];
    }
    error_ = sum / Lanes::all(static_cast<double>(n));
  }

  std::vector<WorkPoint> points_;
  Goal goal_;
  std::array<Lanes, kMostPoints> basis_;
  std::array<Lanes, kMostPoints> weights_;
  std::array<Lanes, kMostPoints> errors_;
  Lanes way_;
  Lanes error_;
  double exact_ = 1e-300;
};

}  // namespace

std::vector<WorkChance> work_to_90(const std::vector<WorkPoint>& points, Goal goal, double horizon,
                                   std::optional<double> remembered) {
  struct Answer {
    double score = 0;
    double work = 0;
  };
  static const std::array<Tried, kCurves> kTried = tried_curves();
  std::vector<Answer> answers;
  answers.reserve(kCurves);
  Fitter fitter(points, goal);
  for (std::size_t first = 0; first < kCurves; first += kLanes) {
    std::array<Basis, kLanes> curves;
    for (std::size_t k = 0; k < kLanes; ++k) {
      curves[k] = {kTried[first + k].is_power, kTried[first + k].share * horizon};
    }
    const auto scores = fitter.judge(curves.data());
    for (std::size_t k = 0; k < kLanes; ++k) {
      if (!scores[k]) continue;
      const Basis& basis = curves[k];
      const double at_end = basis.decay(horizon);
      const double work = basis.work_at(1 - kUsable * (1 - at_end));
      const double off =
          remembered ? std::log(work / *remembered) / kRememberedSpread : kTried[first + k].off;
      const double score =
          kTrust * *scores[k] + off * off / 2 + (basis.is_power ? kPowerHandicap : 0);
      answers.push_back({score, std::clamp(work, 0.0, horizon)});
    }
  }
  // Nothing leads to the goal: what will be gained may come at the very end.
  if (answers.empty()) return {{kUsable * horizon, 1}};
  double best = answers.front().score;
  for (const Answer& answer : answers) best = std::min(best, answer.score);
  std::vector<WorkChance> chances;
  double sum = 0;
  for (const Answer& answer : answers) {
    const double weight = std::exp(best - answer.score);
    if (weight < kNegligible) continue;
    chances.push_back({answer.work, weight});
    sum += weight;
  }
  for (WorkChance& chance : chances) chance.weight /= sum;
  std::sort(chances.begin(), chances.end(),
            [](const WorkChance& a, const WorkChance& b) { return a.work < b.work; });
  return chances;
}

}  // namespace flowcon::ctrl::growth
