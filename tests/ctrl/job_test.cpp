// SPDX-License-Identifier: Apache-2.0
// Measuring one job from decision to decision.
#include "ctrl/job.h"

#include <string>

#include "ctrl/daemon/planning.h"
#include "ctrl/growth/forecast.h"
#include "tests/support/catch.h"

namespace flowcon::ctrl {
namespace {

// A job of one core that prints losses; every look hands in its CPU time.
class JobUnderTest {
 public:
  JobUnderTest() {
    job.container.id = "a";
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
    policy::Rounds rounds;
    (void)planning.follow({"a"}, rounds);
    (void)planning.decide(jobs, now, 0, rounds);
  }

  // At that second here, having used that much since it began here.
  void look(double time, double used, bool is_half_read = false) {
    const Moment now{1000 + time, time};
    take_reading(job, host, now, {static_cast<std::uint64_t>(used * 1e9), 1});
    follow_track(job, now, false, is_half_read);
  }

  static Config by_growth() {
    Config config;
    config.policy = "flowcon";
    config.interval = 2;
    return config;
  }

  std::map<std::string, Job> jobs;
  Job& job = jobs["a"];
  Host host;
  Planning planning{by_growth(), host};
};

// It has used 100 CPU seconds elsewhere, and printed three accuracies and counts there; it began
// here at 1000, and its log of before is read first.
struct Moved : JobUnderTest {
  Moved() {
    metrics::Spec spec;
    spec.metric = "accuracy";
    job.extractor.emplace(std::move(*metrics::Extractor::create(spec, 64)));
    job.container.started = job.admitted = 1000;
    Past past;
    past.track = {100, 0, 0, {{20, 0.2}, {60, 0.5}, {90, 0.7}}, {{20, 0.1}, {60, 0.3}, {90, 0.45}}};
    past.metric = "accuracy";
    past.goal = Goal::max;
    job.past = past;
  }
  void print_epoch(double time, int epoch, const std::string& accuracy) {
    job.extractor->feed("epoch " + std::to_string(epoch) + "/20 accuracy: " + accuracy,
                        1000 + time);
  }
  void read_earlier_lines() {
    print_epoch(-80, 2, "0.2");
    print_epoch(-40, 6, "0.5");
    print_epoch(-10, 9, "0.7");
    job.is_catching_up = true;
  }
};

}  // namespace

TEST_CASE("a job that goes on from another host is known from its first look on") {
  Moved test;
  test.look(1, 0.5);
  CHECK(test.job.track.used() == 100.5);
  CHECK(test.job.goal == Goal::max);
  CHECK(test.job.track.values().size() == 3);
  const growth::WorkLeft left = growth::left_of(test.job.track, std::nullopt, 0.5);
  CHECK(left.basis == growth::Basis::counter);
  CHECK(left.left == Approx(200.0 * 0.55 - 10.5));
  CHECK_FALSE(test.job.track.is_under_way(5));
}

TEST_CASE("what a moved job printed elsewhere is not counted twice, and what it prints here is") {
  Moved test;
  test.look(1, 0.5);
  test.read_earlier_lines();
  test.look(2, 1);
  CHECK(test.job.track.used() == 100.5);  // left to a later look
  end_catching_up(test.job);
  test.look(3, 1.5);
  CHECK(test.job.track.used() == 101.5);
  CHECK(test.job.track.values().size() == 3);
  CHECK(test.job.track.counts().size() == 3);
  CHECK_FALSE(test.job.track.is_under_way(5));
  test.print_epoch(10, 10, "0.75");
  test.look(13, 11.5);
  REQUIRE(test.job.track.values().size() == 4);
  CHECK(test.job.track.values().back().work == Approx(108.5));
  REQUIRE(test.job.track.counts().size() == 4);
  CHECK(test.job.track.counts().back().value == 0.5);
  CHECK(test.job.track.is_under_way(5));
}

TEST_CASE("a log that is read but in part says nothing of a moved job") {
  Moved test;
  test.look(1, 0.5);
  test.print_epoch(-80, 2, "0.2");
  end_catching_up(test.job);
  test.look(2, 1, true);
  CHECK(test.job.track.counts().size() == 3);
  CHECK(test.job.track.begun() == 0);
  test.print_epoch(-40, 6, "0.5");
  test.print_epoch(-10, 9, "0.7");
  test.look(3, 1.5);
  CHECK(test.job.track.counts().size() == 3);
  CHECK(test.job.track.values().size() == 3);
  CHECK(test.job.track.used() == 101.5);
}

TEST_CASE("after a restart of flowcond a moved job has what it printed here before") {
  Moved test;
  test.job.admitted = 1050;
  test.read_earlier_lines();
  test.print_epoch(10, 10, "0.75");
  test.print_epoch(30, 11, "0.8");
  end_catching_up(test.job);
  test.print_epoch(51, 12, "0.81");
  test.look(60, 60);
  REQUIRE(test.job.track.values().size() == 6);
  CHECK(test.job.track.values()[3].work == Approx(110));
  CHECK(test.job.track.values()[4].work == Approx(130));
  CHECK(test.job.track.values()[5].work == Approx(151));
  CHECK(test.job.track.used() == 160);
}

TEST_CASE("lines without times of their own that were known before are not counted again") {
  Moved test;
  test.job.admitted = 1050;
  test.job.log.format = logs::Format::text;
  test.print_epoch(10, 2, "0.2");
  test.print_epoch(20, 9, "0.7");
  end_catching_up(test.job);
  test.print_epoch(51, 10, "0.75");
  test.look(60, 60);
  REQUIRE(test.job.track.values().size() == 4);
  CHECK(test.job.track.values()[3].value == 0.75);
}

TEST_CASE("what was known of one series says nothing of another") {
  Moved test;
  test.job.known_series.metric = "loss";
  test.job.known_count = 400;
  test.print_epoch(10, 10, "0.75");
  test.look(13, 11.5);
  CHECK(test.job.track.values().size() == 4);
}

TEST_CASE("while no metric is chosen the values of before are kept, and none is taken twice") {
  JobUnderTest test;
  test.job.container.started = test.job.admitted = 1000;
  test.print(0.5, "100");
  test.print(0.9, "90");
  test.look(1, 0.5);
  CHECK(test.job.track.values().size() == 2);
  metrics::Spec spec;
  spec.metric = "loss";
  test.job.extractor.emplace(std::move(*metrics::Extractor::create(spec, 64)));
  REQUIRE(test.job.extractor->report().metric.empty());
  test.look(2, 1);
  CHECK(test.job.track.values().size() == 2);
  test.print(0.5, "100");
  test.print(0.9, "90");
  test.print(2.5, "80");
  test.look(3, 1.5);
  REQUIRE(test.job.track.values().size() == 3);
  CHECK(test.job.track.values().back().value == 80);
}

TEST_CASE("between two looks closer than a second the old growth counts") {
  JobUnderTest test;
  test.print(0.5, "100");
  test.decide(1);
  for (int i = 0; i < 8; ++i) test.print(1.1 + 0.2 * i, std::to_string(99 - i));
  test.decide(3);
  const std::optional<double> growth = test.job.cpu.growth_for_decision();
  REQUIRE(growth.has_value());
  CHECK(*growth > 0);
  test.decide(3.5);
  CHECK(test.job.cpu.growth_for_decision() == growth);
}

TEST_CASE("a diverging job is not measured, neither at a decision nor at another right after it") {
  JobUnderTest test;
  test.print(0.5, "100");
  test.decide(1);
  for (int i = 0; i < 8; ++i) test.print(1.1 + 0.2 * i, "nan");
  test.decide(3);
  CHECK(std::string(verdict_of(test.job)) == "diverging");
  CHECK_FALSE(test.job.cpu.growth_for_decision().has_value());
  test.decide(3.5);
  CHECK_FALSE(test.job.cpu.growth_for_decision().has_value());
}

TEST_CASE("a job that prints more than is kept in an interval is measured over all of it") {
  JobUnderTest test;
  // 10 % of the first value a second at half the host; 64 of the 200 values are kept.
  for (int i = 0; i <= 100; ++i) test.print(0.01 * i, std::to_string(100 - 0.1 * i));
  test.decide(1);
  for (int i = 1; i <= 200; ++i) test.print(1 + 0.01 * i, std::to_string(90 - 0.1 * i));
  test.decide(3);
  const std::optional<double> growth = test.job.cpu.growth_for_decision();
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
  REQUIRE(test.job.cpu.growth_for_decision().has_value());
  REQUIRE(test.job.io.growth_for_decision().has_value());
  // Progress is one and the same, so growth goes by the inverse of use: half of the CPU.
  CHECK(*test.job.io.growth == Approx(2 * *test.job.cpu.growth));
  CHECK(*test.job.io_rate == 500);
  CHECK_FALSE(test.job.network_rate.has_value());
}

TEST_CASE("the time in which a job was frozen is no silence, no slowness and no lack of progress") {
  JobUnderTest test, other;
  for (JobUnderTest* one : {&test, &other}) {
    one->print(1, "10");
    one->decide(2);
    one->print(3, "9");
    one->decide(4);
    REQUIRE(one->job.cpu.is_fresh);
  }
  const double before = *test.job.cpu.growth;
  freeze(test.job, {1004, 4});
  test.decide(1000);
  CHECK_FALSE(test.job.cpu.is_fresh);
  CHECK(*test.job.cpu.growth == before);
  CHECK(test.job.verdict == growth::Verdict::measured);
  other.decide(1000);
  CHECK(other.job.verdict == growth::Verdict::unmeasured);
  thaw(test.job, {2000, 1000});
  CHECK_FALSE(test.job.frozen.has_value());
  test.decide(1000.5);
  CHECK_FALSE(test.job.cpu.is_fresh);
  test.print(1001, "8");
  test.decide(1002);
  CHECK(test.job.cpu.is_fresh);
}

TEST_CASE("the work of a job that was frozen is put where it was done") {
  JobUnderTest test;
  test.look(1, 1);
  test.look(2, 2);
  freeze(test.job, {1002, 2});
  test.look(50, 2);
  thaw(test.job, {1102, 102});
  test.print(103, "5");
  test.look(104, 4);
  REQUIRE(test.job.track.values().size() == 1);
  // Half way between the thaw at 102, with 2 CPU seconds, and the look at 104.
  CHECK(test.job.track.values().front().work == Approx(3));
}

}  // namespace flowcon::ctrl
