// SPDX-License-Identifier: Apache-2.0
// Measuring one job from decision to decision.
#include "ctrl/job.h"

#include <string>

#include "tests/support/catch.h"

namespace flowcon::ctrl {
namespace {

// A job of one core that prints losses; every look hands in its CPU time.
class JobUnderTest {
 public:
  JobUnderTest() {
    metrics::Spec spec;
    spec.metric = "loss";
    auto made = metrics::Extractor::create(spec, 64);
    REQUIRE(made.has_value());
    job.extractor.emplace(std::move(*made));
  }

  void print(double time, const std::string& value) {
    job.extractor->feed("loss: " + value, 1000 + time);
  }

  void decide(double time) {
    const Moment now{1000 + time, time};
    take_reading(job, host, now, {static_cast<std::uint64_t>(time * 5e8), 1});
    measure(job, host, now, growth::Parameters(), 2);
  }

  Job job;
  Host host;
};

}  // namespace

TEST_CASE("between two looks closer than a second the old growth counts") {
  JobUnderTest test;
  test.print(0.5, "100");
  test.decide(1);
  for (int i = 0; i < 8; ++i) test.print(1.1 + 0.2 * i, std::to_string(99 - i));
  test.decide(3);
  const std::optional<double> growth = growth_for_decision(test.job.cpu);
  REQUIRE(growth.has_value());
  CHECK(*growth > 0);
  test.decide(3.5);
  CHECK(growth_for_decision(test.job.cpu) == growth);
}

TEST_CASE("a diverging job is not measured, neither at a decision nor at another right after it") {
  JobUnderTest test;
  test.print(0.5, "100");
  test.decide(1);
  for (int i = 0; i < 8; ++i) test.print(1.1 + 0.2 * i, "nan");
  test.decide(3);
  CHECK(std::string(verdict_of(test.job)) == "diverging");
  CHECK_FALSE(growth_for_decision(test.job.cpu).has_value());
  test.decide(3.5);
  CHECK_FALSE(growth_for_decision(test.job.cpu).has_value());
}

TEST_CASE("a job that prints more than is kept in an interval is measured over all of it") {
  JobUnderTest test;
  // 10 % of the first value a second at half the host; 64 of the 200 values are kept.
  for (int i = 0; i <= 100; ++i) test.print(0.01 * i, std::to_string(100 - 0.1 * i));
  test.decide(1);
  for (int i = 1; i <= 200; ++i) test.print(1 + 0.01 * i, std::to_string(90 - 0.1 * i));
  test.decide(3);
  const std::optional<double> growth = growth_for_decision(test.job.cpu);
  REQUIRE(growth);
  // The first values' median is 99.8, a 0.2 % off.
  CHECK(*growth == Approx(0.2).epsilon(0.01));
}

TEST_CASE("growth is measured on each resource that is used, and on no other") {
  JobUnderTest test;
  Traffic traffic;
  traffic.io = 0;
  take_traffic(test.job, {0.9, 0.9}, traffic);
  test.print(0.5, "100");
  test.decide(1);
  for (int i = 0; i < 8; ++i) test.print(1.1 + 0.2 * i, std::to_string(99 - i));
  // A quarter of what the host's disks moved.
  traffic.io = 1000;
  traffic.host_io = 4000;
  take_traffic(test.job, {2.9, 2.9}, traffic);
  test.decide(3);
  REQUIRE(growth_for_decision(test.job.cpu).has_value());
  REQUIRE(growth_for_decision(test.job.io).has_value());
  // Progress is one and the same, so growth goes by the inverse of use: half of the CPU.
  CHECK(*test.job.io.growth == Approx(2 * *test.job.cpu.growth));
  CHECK(*test.job.io_rate == 500);
  CHECK_FALSE(test.job.network_rate.has_value());
}

}  // namespace flowcon::ctrl
