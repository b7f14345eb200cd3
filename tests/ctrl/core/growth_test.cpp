// SPDX-License-Identifier: Apache-2.0
#include "ctrl/growth/growth.h"

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "tests/support/catch.h"

namespace {

using namespace flowcon::ctrl::growth;  // NOLINT(google-build-using-namespace)
using flowcon::ctrl::Goal;
using flowcon::ctrl::Sample;

constexpr Parameters kPaper{Estimator::paper, Normalise::none, false};
constexpr Parameters kPaperDirected{Estimator::paper, Normalise::none, true};
constexpr Parameters kRobust{};
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

using Curve = std::function<double(double)>;

// One sample a `step` in [begin, end).
std::vector<Sample> sampled(double begin, double end, double step, const Curve& curve) {
  std::vector<Sample> samples;
  for (int i = 0; begin + i * step < end; ++i) {
    samples.push_back({begin + i * step, curve(begin + i * step)});
  }
  return samples;
}

double rate(const Progress& progress) {
  REQUIRE(progress.rate);
  return *progress.rate;
}

// The mean rate over many intervals of 20 s, each with its own noise.
double mean_rate(std::mt19937& random, double step, double slope, double noise,
                 const Parameters& parameters) {
  std::normal_distribution<double> normal(0, noise);
  double sum = 0;
  constexpr int kRounds = 400;
  for (int i = 0; i < kRounds; ++i) {
    const auto samples = sampled(
        980, 1020, step, [&](double time) { return 1 + slope * (time - 1000) + normal(random); });
    sum += rate(progress_between(samples, 1000, 1020, Goal::min, 1, parameters));
  }
  return sum / kRounds;
}

}  // namespace

TEST_CASE("paper: progress is the change between the latest values, per second") {
  const std::vector<Sample> samples{{90, 2.5}, {95, 2.0}, {105, 1.75}, {112, 1.5}};
  const auto progress = progress_between(samples, 100, 110, Goal::min, 1, kPaper);
  CHECK(progress.verdict == Verdict::measured);
  CHECK(progress.rate == 0.025);
  CHECK(progress_between(samples, 95, 112, Goal::min, 1, kPaper).rate == 0.5 / 17);
  CHECK(progress_between(samples, 100, 110, Goal::min, 2, kPaper).rate == 0.0125);
}

TEST_CASE("paper: without a new value there is no progress") {
  const std::vector<Sample> samples{{90, 2.5}};
  CHECK(progress_between(samples, 100, 110, Goal::min, 1, kPaper).rate == 0.0);
}

TEST_CASE("paper: the direction counts only when asked for") {
  const std::vector<Sample> rising{{100, 1}, {110, 2}};
  CHECK(progress_between(rising, 100, 110, Goal::min, 1, kPaper).rate == 0.1);
  CHECK(progress_between(rising, 100, 110, Goal::min, 1, kPaperDirected).rate == 0.0);
  CHECK(progress_between(rising, 100, 110, Goal::max, 1, kPaperDirected).rate == 0.1);
}

TEST_CASE("nothing is measured without two values, without time or without a scale") {
  const std::vector<Sample> samples{{100, 1}, {105, 0.5}};
  const auto parameters = GENERATE(values({kPaper, kRobust}));
  const auto verdict = [&](const std::vector<Sample>& some, double from, double to, double scale) {
    const auto progress = progress_between(some, from, to, Goal::min, scale, parameters);
    CHECK(progress.rate.has_value() == (progress.verdict != Verdict::unmeasured));
    return progress.verdict;
  };
  CHECK(verdict(samples, 100, 110, 1) == Verdict::measured);
  CHECK(verdict({}, 100, 110, 1) == Verdict::unmeasured);
  CHECK(verdict({{105, 1}}, 100, 110, 1) == Verdict::unmeasured);
  CHECK(verdict({{115, 1}}, 100, 110, 1) == Verdict::unmeasured);
  CHECK(verdict(samples, 100, 100, 1) == Verdict::unmeasured);
  CHECK(verdict(samples, 110, 100, 1) == Verdict::unmeasured);
  CHECK(verdict(samples, kNan, 110, 1) == Verdict::unmeasured);
  CHECK(verdict(samples, 100, kInf, 1) == Verdict::unmeasured);
  CHECK(verdict(samples, 100, 110, 0) == Verdict::unmeasured);
  CHECK(verdict(samples, 100, 110, -1) == Verdict::unmeasured);
  CHECK(verdict(samples, 100, 110, kNan) == Verdict::unmeasured);
  CHECK(verdict(samples, 100, 110, kInf) == Verdict::unmeasured);
}

TEST_CASE("a latest value that is not a number is diverging, an earlier one is passed over") {
  const auto bad = GENERATE(values({kNan, kInf, -kInf}));
  for (const Parameters& parameters : {kPaper, kRobust}) {
    const auto last = progress_between({{100, 1}, {105, bad}}, 100, 110, Goal::min, 1, parameters);
    CHECK(last.verdict == Verdict::diverging);
    CHECK(last.rate == 0.0);
    const std::vector<Sample> middle{{100, 1}, {105, bad}, {110, 0.5}};
    CHECK(rate(progress_between(middle, 100, 110, Goal::min, 1, parameters)) == Approx(0.05));
  }
  CHECK(progress_between({{100, bad}, {105, 1}}, 100, 110, Goal::min, 1, kPaper).verdict ==
        Verdict::unmeasured);
}

TEST_CASE("robust: a straight line has its slope, whatever the number of samples") {
  const auto step = GENERATE(values({0.01, 0.1, 1.0, 5.0, 10.0}));
  CAPTURE(step);
  const auto falling = sampled(995, 1021, step, [](double t) { return 3 - 0.02 * (t - 1000); });
  CHECK(rate(progress_between(falling, 1000, 1020, Goal::min, 1, kRobust)) == Approx(0.02));
  CHECK(rate(progress_between(falling, 1000, 1020, Goal::min, 4, kRobust)) == Approx(0.005));
  CHECK(progress_between(falling, 1000, 1020, Goal::max, 1, kRobust).rate == 0.0);
}

TEST_CASE("robust: a fast exponential fall keeps most of its slope") {
  // From 1 to e^-3 within the interval; the median slope is less than the mean one by its nature.
  for (const double step : {0.05, 1.0, 5.0}) {
    const auto samples =
        sampled(1000, 1020.01, step, [](double t) { return std::exp((1000 - t) / 7); });
    const double mean = (1 - std::exp(-20.0 / 7)) / 20;
    const double measured = rate(progress_between(samples, 1000, 1020, Goal::min, 1, kRobust));
    CAPTURE(step, measured, mean);
    CHECK(measured > 0.6 * mean);
    CHECK(measured < 1.1 * mean);
  }
}

TEST_CASE("robust: noise on a plateau is hardly any growth, and far less than between two points") {
  std::mt19937 random(5);
  const auto step = GENERATE(values({0.02, 0.2, 1.0, 4.0, 9.0}));
  CAPTURE(step);
  const double robust = mean_rate(random, step, 0, 0.05, kRobust);
  const double paper = mean_rate(random, step, 0, 0.05, kPaper);
  // Two points of noise s are 2s/sqrt(pi) apart on average: 0.0028 a second here.
  CHECK(paper > 0.002);
  CHECK(robust < paper / 12);
}

TEST_CASE("robust: a slow decline that stands out of the noise is measured") {
  std::mt19937 random(6);
  // 0.1 over the interval, twice the noise of one value. With n values the standard error e of the
  // slope is 0.05/(5.8*sqrt(n)); 1-(2e/0.005)^2 of the slope is left: 99 %, 88 %.
  CHECK(mean_rate(random, 0.02, -0.005, 0.05, kRobust) == Approx(0.005).epsilon(0.05));
  CHECK(mean_rate(random, 0.2, -0.005, 0.05, kRobust) == Approx(0.0044).epsilon(0.05));
  // Eleven values: e is half of the slope, so in every other interval it is within the noise.
  CHECK(mean_rate(random, 2, -0.005, 0.05, kRobust) > 0.001);
}

TEST_CASE("robust: outliers do not count") {
  const auto samples = sampled(1000, 1020, 0.1, [](double t) {
    const bool is_spike = std::fmod(t, 1.0) < 0.15;
    return is_spike ? 1e6 : 3 - 0.02 * (t - 1000);
  });
  CHECK(rate(progress_between(samples, 1000, 1019, Goal::min, 1, kRobust)) ==
        Approx(0.02).epsilon(0.15));
}

TEST_CASE("robust: silence and a single value are not measured") {
  const std::vector<Sample> old{{80, 3}, {90, 2.5}};
  CHECK(progress_between(old, 100, 110, Goal::min, 1, kRobust).verdict == Verdict::unmeasured);
  CHECK(progress_between({{105, 1}}, 100, 110, Goal::min, 1, kRobust).verdict ==
        Verdict::unmeasured);
  const std::vector<Sample> same_time{{105, 1}, {105, 2}, {105, 3}};
  CHECK(progress_between(same_time, 100, 110, Goal::min, 1, kRobust).verdict ==
        Verdict::unmeasured);
}

TEST_CASE("robust: a value that comes seldom is spread over the time it took") {
  const std::vector<Sample> samples{{1000, 1}, {1060, 0.4}};
  CHECK(rate(progress_between(samples, 1050, 1070, Goal::min, 1, kRobust)) == Approx(0.01));
}

TEST_CASE("robust: lines that were written in one burst are no steep trend") {
  // Every 10 s a buffer of 100 lines, 20 us apart, of a loss that falls by 0.01 a second.
  std::vector<Sample> samples;
  for (int line = 0; line < 400; ++line) {
    const int burst = line / 100;
    samples.push_back({1000.0 + 10 * burst + 2e-5 * (line % 100), 3 - 0.001 * line});
  }
  CHECK(rate(progress_between(samples, 1005, 1030.5, Goal::min, 1, kRobust)) ==
        Approx(0.01).epsilon(0.2));
  // One buffer alone: 0.1 in 2 ms must not become 50 a second.
  CHECK(rate(progress_between(samples, 990, 1000.5, Goal::min, 1, kRobust)) < 0.025);
}

TEST_CASE("robust: a clear move away from the goal is diverging, a drift or noise is not") {
  const auto verdict = [](double step, const Curve& curve) {
    const auto samples = sampled(990, 1020, step, curve);
    const auto progress = progress_between(samples, 1000, 1020, Goal::min, 1, kRobust);
    CHECK(progress.rate == 0.0);
    return progress.verdict;
  };
  std::mt19937 random(8);
  std::normal_distribution<double> normal(0, 0.01);
  CHECK(verdict(0.5, [&](double t) { return 1 + 0.05 * (t - 1000) + normal(random); }) ==
        Verdict::diverging);
  CHECK(verdict(0.5, [](double t) { return 1 + 0.0001 * (t - 1000); }) == Verdict::measured);
  // Two values say too little about the noise.
  CHECK(progress_between({{1000, 1}, {1010, 2}}, 1000, 1020, Goal::min, 1, kRobust).verdict ==
        Verdict::measured);
}

TEST_CASE("robust: undirected, a rise is progress too") {
  Parameters parameters;
  parameters.directed = false;
  const auto rising = sampled(1000, 1021, 1, [](double t) { return 1 + 0.01 * (t - 1000); });
  CHECK(rate(progress_between(rising, 1000, 1020, Goal::min, 1, parameters)) == Approx(0.01));
}

TEST_CASE("progress does not depend on the unit of the metric, on the epoch or on the sign") {
  std::mt19937 random(9);
  std::normal_distribution<double> normal(0, 0.02);
  for (int round = 0; round < 50; ++round) {
    const auto samples =
        sampled(100, 130, 0.7, [&](double t) { return 2 - 0.01 * (t - 100) + normal(random); });
    const auto progress = [&](double factor, double shift, Goal goal) {
      std::vector<Sample> moved;
      for (const Sample& sample : samples) {
        moved.push_back({sample.time + shift, sample.value * factor});
      }
      const auto scale = scale_of({moved, 0, 0}, Normalise::first);
      REQUIRE(scale);
      return rate(progress_between(moved, 110 + shift, 130 + shift, goal, *scale, kRobust));
    };
    const double plain = progress(1, 0, Goal::min);
    CHECK(progress(1e12, 0, Goal::min) == Approx(plain).epsilon(1e-9));
    CHECK(progress(3e-9, 0, Goal::min) == Approx(plain).epsilon(1e-9));
    // A time of 1.8e9 s leaves steps of 2.4e-7 s: below 1e-6 of the gaps of 0.7 s.
    CHECK(progress(1, 1.79e9, Goal::min) == Approx(plain).epsilon(1e-5).margin(1e-9));
    CHECK(progress(-1, 0, Goal::max) == Approx(plain).epsilon(1e-9));
  }
}

TEST_CASE("extreme values give finite rates") {
  const double most = std::numeric_limits<double>::max();
  const std::vector<Sample> samples{{100, most}, {104, most / 2}, {110, -most}};
  for (const Parameters& parameters : {kPaper, kRobust}) {
    for (const double scale : {5e-324, 1.0, most}) {
      CHECK(std::isfinite(rate(progress_between(samples, 100, 110, Goal::min, scale, parameters))));
    }
  }
  const std::vector<Sample> tiny{{100, 5e-324}, {110, 0}};
  CHECK(std::isfinite(rate(progress_between(tiny, 100, 110, Goal::min, 5e-324, kRobust))));
  const std::vector<Sample> zero{{100, 0}, {110, 0}};
  CHECK(progress_between(zero, 100, 110, Goal::min, 1, kRobust).rate == 0.0);
}

TEST_CASE(
    "random series, in any order and with any value, never give a rate that is not a number") {
  std::mt19937_64 random(10);
  for (int round = 0; round < 3000; ++round) {
    std::vector<Sample> samples;
    double time = 1000;
    for (auto n = random() % 200; n > 0; --n) {
      time +=
          static_cast<double>(random() % 3) * std::pow(10.0, static_cast<double>(random() % 9) - 7);
      const double values[] = {kNan, kInf, 0, -1, 1, 1e308, -1e308, 1e-310, 0.5, 2};
      samples.push_back({time, values[random() % 10]});
    }
    for (const Parameters& parameters : {kPaper, kPaperDirected, kRobust}) {
      const auto progress = progress_between(samples, 1000 + static_cast<double>(random() % 20),
                                             1000 + static_cast<double>(random() % 40), Goal::max,
                                             random() % 2 == 0 ? 1 : 1e-300, parameters);
      CHECK(progress.rate.has_value() == (progress.verdict != Verdict::unmeasured));
      if (progress.rate) {
        CHECK(std::isfinite(*progress.rate));
        CHECK(*progress.rate >= 0);
      }
    }
  }
}

TEST_CASE("the scale is the median of the first finite values, the range, or 1") {
  Scale seen;
  CHECK_FALSE(scale_of(seen, Normalise::first));
  CHECK_FALSE(scale_of(seen, Normalise::range));
  CHECK(scale_of(seen, Normalise::none) == 1.0);

  seen.head = {{1, kNan}, {2, 0}, {3, -9}, {4, -2}};
  CHECK(scale_of(seen, Normalise::first) == 5.5);
  seen.head = {{1, 900}, {2, 3}, {3, 2}, {4, kInf}, {5, 2.5}, {6, 2.25}, {7, 1e9}, {8, 1e9}};
  CHECK(scale_of(seen, Normalise::first) == 2.5);
  seen.head = {{1, 0}, {2, 0}};
  CHECK_FALSE(scale_of(seen, Normalise::first));

  seen.low = -1;
  seen.high = 3;
  CHECK(scale_of(seen, Normalise::range) == 4.0);
  seen.low = -1.7e308;
  seen.high = 1.7e308;
  CHECK(scale_of(seen, Normalise::range) == std::numeric_limits<double>::max());
}

TEST_CASE("efficiency is progress by use, empty where either is unknown") {
  const Efficiency known = efficiency({Verdict::measured, 0.02}, {0.5, 0, kNan});
  CHECK(known.cpu == 0.04);
  CHECK_FALSE(known.memory);
  CHECK_FALSE(known.io);
  CHECK_FALSE(efficiency({}, {1, 1, 1}).cpu);
  CHECK(efficiency({Verdict::diverging, 0.0}, {0.5, 0, 0}).cpu == 0.0);
  CHECK(std::isfinite(*efficiency({Verdict::measured, 1e300}, {1e-300, 0, 0}).cpu));
}
