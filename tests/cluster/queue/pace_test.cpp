// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/pace.h"

#include "tests/support/catch.h"

using namespace flowcon::cluster::queue;

TEST_CASE("each number of workers has the pace of its own stretches, from move to move") {
  PaceMeter meter;
  CHECK_FALSE(meter.open());
  meter.see(0, 1, 0);
  for (int i = 1; i <= 11; ++i) meter.see(10 + i, 1, 0.01 * i);  // the first step took 11 s
  for (int i = 0; i <= 11; ++i) meter.see(30 + i, 2, 0.11 + 0.02 * i);
  const std::vector<Pace> paces = meter.paces();
  REQUIRE(paces.size() == 2);
  CHECK(paces[0].workers == 1);
  CHECK(paces[0].rate == Approx(0.01));
  CHECK(paces[1].workers == 2);
  CHECK(paces[1].rate == Approx(0.02));
  CHECK(meter.open() == Approx(0.67));
  CHECK(meter.left(2) == Approx(33.5));
  CHECK_FALSE(meter.left(3));
}

TEST_CASE("what stands still is not measured") {
  PaceMeter meter;
  for (int i = 0; i <= 11; ++i) meter.see(i, 1, 0.01 * i);
  meter.rest();
  meter.see(100, 1, 0.1);
  for (int i = 0; i <= 10; ++i) meter.see(101 + i, 1, 0.1 + 0.01 * i);
  REQUIRE(meter.paces().size() == 1);
  CHECK(meter.paces()[0].rate == Approx(0.01));
}

TEST_CASE("a stretch that is too short or has no move says nothing") {
  PaceMeter meter;
  meter.see(0, 1, 0.1);
  meter.see(100, 1, 0.1);
  meter.see(200, 1, 0.5);  // one move
  CHECK(meter.paces().empty());
  meter.see(201, 1, 0.6);
  CHECK(meter.paces().empty());
  meter.see(202, 1, 0.7);
  meter.see(203, 1, 0.8);
  CHECK(meter.paces().empty());
  meter.see(210, 1, 0.9);
  CHECK(meter.paces().size() == 1);
  meter.see(1900, 2, 0.9);
  CHECK(meter.paces().size() == 1);
  meter.see(2100, 2, 0.9);  // who knows what it would be now
  CHECK(meter.paces().empty());
}

TEST_CASE("a job that goes back begins another stretch, and what was before counts half") {
  PaceMeter meter;
  for (int i = 0; i <= 11; ++i) meter.see(i, 4, 0.01 * i);
  for (int i = 0; i <= 11; ++i) meter.see(20 + i, 4, 0.04 * i);  // from the beginning, faster
  REQUIRE(meter.paces().size() == 1);
  CHECK(meter.paces()[0].rate == Approx((0.1 / 2 + 0.4) / (10.0 / 2 + 10)));
  CHECK(meter.open() == Approx(1 - 0.44));
}
