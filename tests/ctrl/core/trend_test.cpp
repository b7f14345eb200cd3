// SPDX-License-Identifier: Apache-2.0
#include "ctrl/growth/trend.h"

#include <random>
#include <vector>

#include "tests/support/catch.h"

namespace {

using flowcon::ctrl::Sample;
using flowcon::ctrl::growth::trend_of;

std::vector<Sample> noisy(std::mt19937& random, int count, double slope) {
  std::normal_distribution<double> normal(0, 0.1);
  std::vector<Sample> points;
  for (int i = 0; i < count; ++i) {
    const double time = static_cast<double>(i) / (count - 1);
    points.push_back({time, 0.5 + slope * time + normal(random)});
  }
  return points;
}

}  // namespace

TEST_CASE("a pair counts by its time apart: what happens within a burst hardly counts") {
  // Two bursts that rise steeply inside, the second one lower; most pairs are within the first.
  std::vector<Sample> points;
  for (int i = 0; i < 100; ++i) points.push_back({i * 1e-4, 0.8 + i * 1e-3});
  for (int i = 0; i < 20; ++i) points.push_back({1 + i * 1e-4, 0.3 + i * 1e-3});
  const auto trend = trend_of(points, {});
  REQUIRE(trend);
  CHECK(trend->slope < -0.4);
  CHECK(trend->slope > -0.7);
}

TEST_CASE("noise alone is hardly ever clear, a slope far above it always is") {
  std::mt19937 random(21);
  const int count = GENERATE(6, 12, 100);
  int clear_noise = 0;
  int clear_slope = 0;
  for (int round = 0; round < 500; ++round) {
    clear_noise += trend_of(noisy(random, count, 0), {})->is_clear ? 1 : 0;
    // The standard error is at most 0.1/0.87 for six points.
    clear_slope += trend_of(noisy(random, count, 4), {})->is_clear ? 1 : 0;
  }
  CAPTURE(count);
  CHECK(clear_noise <= 15);
  CHECK(clear_slope >= 480);
}

TEST_CASE("fewer than five points say nothing about noise: the slope stays and is not clear") {
  const auto trend = trend_of({{0, 0.9}, {0.3, 0.2}, {0.6, 0.8}, {1, 0.1}}, {});
  REQUIRE(trend);
  CHECK(trend->slope < -0.4);
  CHECK_FALSE(trend->is_clear);
  // With what came before, it is seen to be noise.
  const auto known = trend_of({{0, 0.9}, {0.3, 0.2}, {0.6, 0.8}, {1, 0.1}},
                              {{-1, 0.1}, {-0.8, 0.9}, {-0.6, 0.2}, {-0.4, 0.8}, {-0.2, 0.1}});
  REQUIRE(known);
  CHECK(known->slope == 0);
}

TEST_CASE("a mirrored series has the mirrored slope") {
  std::mt19937 random(22);
  for (int round = 0; round < 100; ++round) {
    std::vector<Sample> points = noisy(random, 20, 2);
    const double slope = trend_of(points, {})->slope;
    for (Sample& point : points) point.value = -point.value;
    CHECK(trend_of(points, {})->slope == Approx(-slope).epsilon(1e-12));
  }
}

TEST_CASE("no trend without two points in time") {
  CHECK_FALSE(trend_of({}, {}));
  CHECK_FALSE(trend_of({{0, 1}}, {{-1, 0}}));
  CHECK_FALSE(trend_of({{0, 1}, {0, 0}}, {}));
}
