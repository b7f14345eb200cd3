// SPDX-License-Identifier: Apache-2.0
#include "sim/bound.h"

#include <cmath>
#include <limits>

#include "tests/sim/schedules.h"
#include "tests/support/catch.h"

using namespace flowcon::sim;

TEST_CASE("90 % of a way that no number holds are at its end") {
  const double most = std::numeric_limits<double>::max();
  const Curve curve = Curve::table({{0, most}, {0.5, -most}, {1, -most}}, flowcon::ctrl::Goal::min);
  CHECK(curve.x90(0) == 1);
}

TEST_CASE("a bound ends, whatever the numbers of its jobs are") {
  for (const double odd :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -8.0}) {
    INFO(odd);
    const Bounds bounds = bounds_of(on_one_host(8, {job(0, odd, 8), job(1, 80, 8)}));
    CHECK(bounds.jobs == 2);
    // The other one alone, from 1 s on.
    CHECK(bounds.makespan == Approx(11));
    CHECK(std::isfinite(bounds.mean_t90));
  }
  const Bounds late =
      bounds_of(on_one_host(8, {job(std::numeric_limits<double>::infinity(), 8, 8)}));
  CHECK(std::isfinite(late.makespan));
}
