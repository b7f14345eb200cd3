// SPDX-License-Identifier: Apache-2.0
#include "sim/engine.h"

#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

#include "sim/drive.h"
#include "sim/schedule.h"
#include "tests/sim/schedules.h"
#include "tests/support/catch.h"

using namespace flowcon::sim;

namespace {

RunResult run_with(const Schedule& schedule, std::string_view name,
                   const EngineParameters& parameters = {}) {
  PolicySet set = policy(name).make(schedule, {});
  return run(schedule, set, parameters);
}

// Weights and quotas that never change.
class Fixed : public HostDriver {
 public:
  explicit Fixed(std::vector<Grant> grants) : grants_(std::move(grants)) {}
  HostGrants decide(const SimHost& view) override {
    HostGrants decision;
    for (const Known* job : view.jobs) decision.grants.push_back(grants_.at(job->number));
    return decision;
  }

 private:
  std::vector<Grant> grants_;
};

// What flowcond would take for the width of the first job, when another has come at 10 s.
class Watching : public Fixed {
 public:
  Watching(std::vector<Grant> grants, std::optional<double>& width)
      : Fixed(std::move(grants)), width_(width) {}
  HostGrants decide(const SimHost& view) override {
    if (view.now == 10) width_ = view.jobs[0]->track.width();
    return Fixed::decide(view);
  }

 private:
  std::optional<double>& width_;
};

std::optional<double> width_seen(const Schedule& schedule, std::vector<Grant> grants) {
  std::optional<double> width;
  PolicySet set;
  set.hosts.push_back(std::make_unique<Watching>(std::move(grants), width));
  (void)run(schedule, set, {});
  return width;
}

RunResult run_fixed(const Schedule& schedule, std::vector<Grant> grants) {
  PolicySet set;
  set.hosts.push_back(std::make_unique<Fixed>(std::move(grants)));
  return run(schedule, set, {});
}

}  // namespace

TEST_CASE("three jobs that compete freely end when the arithmetic says") {
  // 0-5 s: a alone on 8 cores, 40 of its 80 CPU seconds. From 5 s on three share: c can use 2 cores
  // and ends after 8/2 = 4 s; a and b have 3 cores each and 40-12 = 28 left. Then 4 cores each, 7
  // s.
  const Schedule schedule = on_one_host(8, {job(0, 80, 8), job(5, 40, 8), job(5, 8, 2)});
  const RunResult result = run_with(schedule, "free");
  CHECK(result.jobs[0].finished == Approx(16).epsilon(1e-12));
  CHECK(result.jobs[1].finished == Approx(16).epsilon(1e-12));
  CHECK(result.jobs[2].finished == Approx(9).epsilon(1e-12));
}

TEST_CASE("weights divide what is there and quotas cap it") {
  // Weights 3 and 1: 6 and 2 cores. The first has 48, ends at 8 s; the second has 16 of 64 then,
  // and its quota of a quarter keeps it at 2 cores for the other 48: 24 s more.
  const Schedule schedule = on_one_host(8, {job(0, 48, 8), job(0, 64, 8)});
  const RunResult result = run_fixed(schedule, {{3, 1}, {1, 0.25}});
  CHECK(result.jobs[0].finished == Approx(8).epsilon(1e-12));
  CHECK(result.jobs[1].finished == Approx(32).epsilon(1e-12));
}

TEST_CASE("a job is found to be narrow where caps leave it more than it uses, on a busy host") {
  // A third of the host each, and two that use what the first leaves.
  const Schedule busy =
      on_one_host(8, {job(0, 40, 2), job(0, 400, 8), job(0, 400, 8), job(10, 8, 8)});
  CHECK(width_seen(busy, {{1, 0.5}, {1, 0.5}, {1, 0.5}, {1, 0.5}}) == 2);
  // Here nobody uses it, and it may wait for a disk as well.
  const Schedule idle = on_one_host(8, {job(0, 40, 2), job(0, 16, 8), job(10, 8, 8)});
  CHECK_FALSE(width_seen(idle, {{1, 0.5}, {1, 0.1}, {1, 0.1}}));
}

TEST_CASE("milestone's shares are weights or caps, as the limit-mode says") {
  Known first;
  Known second;
  second.number = 1;
  const SimHost view{0, 0, 8, 1e9, true, {&first, &second}};
  const auto weights = drive("milestone", 8, {}, {})->decide(view).grants;
  PolicyParameters quota;
  quota.is_quota = true;
  const auto caps = drive("milestone", 8, {}, quota)->decide(view).grants;
  REQUIRE((weights.size() == 2 && caps.size() == 2));
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(weights[i].quota == 1);
    CHECK(caps[i].weight == 1);
    CHECK(caps[i].quota == weights[i].weight);
  }
  CHECK(caps[0].quota + caps[1].quota == Approx(1));
}

TEST_CASE("the range of the values is that of the finite ones, whatever comes first") {
  Schedule schedule = on_one_host(8, {job(0, 80, 8)});
  const double none = std::numeric_limits<double>::quiet_NaN();
  schedule.jobs[0].curve = std::make_shared<const Curve>(
      Curve::table({{0.1, none}, {0.2, 5}, {1, 3}}, flowcon::ctrl::Goal::min));
  double low = 0;
  double high = 0;
  PolicySet set;
  set.hosts.push_back(std::make_unique<Probe>([&](const SimHost& view) {
    if (view.now < 8) return;
    low = view.jobs[0]->report.low;
    high = view.jobs[0]->report.high;
  }));
  (void)run(schedule, set, {});
  // Of 5 at a fifth of the way to 3 at its end.
  CHECK(low >= 3);
  CHECK(low < 4);
  CHECK(high == 5);
}

TEST_CASE("a job that prints values has a metric") {
  const Schedule schedule = on_one_host(8, {job(0, 80, 8)});
  std::vector<std::string> metrics;
  PolicySet set;
  set.hosts.push_back(std::make_unique<Probe>(
      [&](const SimHost& view) { metrics.push_back(view.jobs[0]->report.metric); }));
  (void)run(schedule, set, {});
  REQUIRE(metrics.size() > 2);
  CHECK(metrics.front().empty());
  CHECK_FALSE(metrics.back().empty());
}

TEST_CASE("time to 90 % is read between decisions") {
  // exp(-6x) has 0.1 of its way from x = 0.1, the first line, to the end left at x = 0.1 + 0.377
  // (0.1 of 1 - exp(-5.4) and those exp(-5.4)); alone, 80 CPU seconds take 10 s.
  const Schedule schedule = on_one_host(8, {job(0, 80, 8)});
  const RunResult result = run_with(schedule, "free");
  const double x90 = schedule.jobs[0].curve->x90(0.1);
  CHECK(x90 > 0.47);
  CHECK(x90 < 0.48);
  CHECK(result.jobs[0].reached90.value() == Approx(10 * x90).epsilon(1e-9));
}

TEST_CASE("every CPU second that a job needs is worked, and none is worked twice") {
  ScheduleOptions options;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    options.seed = seed;
    for (const char* name : {"random15", "specon-4x30"}) {
      const Schedule schedule = find_schedule(name)->make(options);
      double work = 0;
      double cores = 0;
      for (const JobSpec& spec : schedule.jobs) work += spec.work;
      for (const HostSpec& host : schedule.hosts) cores += host.cores;
      for (const PolicyKind& kind : policies()) {
        const RunResult result = run_with(schedule, kind.name);
        INFO(name << " " << kind.name << " seed " << seed);
        CHECK(result.worked == Approx(work).epsilon(1e-9));
        double last = 0;
        for (const Outcome& outcome : result.jobs) last = std::max(last, outcome.finished);
        CHECK(last * cores >= work * (1 - 1e-9));
      }
    }
  }
}

TEST_CASE("a job ends late in time, too, where the clock takes longer steps than its rounding") {
  const Schedule schedule = on_one_host(8, {job(0, 8, 8), job(1e10, 8.000004, 8)});
  for (const char* name : {"free", "flowcon", "milestone"}) {
    INFO(name);
    const RunResult result = run_with(schedule, name);
    // A step of the clock is 2^-19 s there.
    CHECK(std::abs(result.jobs[1].finished - 1e10 - 1.0000005) < 4e-6);
    CHECK(result.jobs[1].end == Outcome::End::complete);
    CHECK(result.worked == Approx(16.000004).epsilon(1e-12));
  }
}

TEST_CASE("sharing costs what the contention says") {
  // Two alike, 0.1 for one more sharer: 1/1.1 of the speed while both run, to the end.
  const Schedule schedule = on_one_host(8, {job(0, 40, 8), job(0, 40, 8)});
  EngineParameters parameters;
  parameters.contention = 0.1;
  const RunResult result = run_with(schedule, "free", parameters);
  CHECK(result.jobs[0].finished == Approx(11).epsilon(1e-12));
  CHECK(result.jobs[1].finished == Approx(11).epsilon(1e-12));
}

TEST_CASE("jobs that do not fit into memory slow each other down") {
  Schedule schedule = on_one_host(8, {job(0, 40, 8), job(0, 40, 8)});
  for (JobSpec& spec : schedule.jobs) spec.memory = 64e9;
  const RunResult result = run_with(schedule, "free");
  CHECK(result.jobs[1].finished == Approx(20).epsilon(1e-12));
}

TEST_CASE("a job that crashes or is killed leaves its share to the others") {
  // Two alike on 8 cores. One crashes at half of its 40 CPU seconds, at 5 s; the other has 60 left
  // of 80 then and takes 7.5 s more.
  Schedule schedule = on_one_host(8, {job(0, 40, 8), job(0, 80, 8)});
  schedule.jobs[0].crash_at = 0.5;
  RunResult result = run_with(schedule, "free");
  CHECK(result.jobs[0].end == Outcome::End::crashed);
  CHECK(result.jobs[0].finished == Approx(5).epsilon(1e-12));
  CHECK(result.jobs[1].finished == Approx(12.5).epsilon(1e-12));

  schedule.jobs[0].crash_at.reset();
  schedule.jobs[0].kill_after = 2;
  result = run_with(schedule, "free");
  CHECK(result.jobs[0].end == Outcome::End::killed);
  CHECK(result.jobs[0].finished == 2);
  CHECK(result.jobs[1].finished == Approx(11).epsilon(1e-12));
}

TEST_CASE("equal seeds give equal runs, other seeds others") {
  ScheduleOptions options;
  options.start = Start::random;
  const auto ends = [&](std::string_view name, std::uint64_t seed) {
    options.seed = seed;
    const Schedule schedule = find_schedule("specon-4x20")->make(options);
    std::vector<double> all;
    for (const Outcome& outcome : run_with(schedule, name).jobs) all.push_back(outcome.finished);
    return all;
  };
  for (const PolicyKind& kind : policies()) {
    INFO(kind.name);
    CHECK(ends(kind.name, 7) == ends(kind.name, 7));
    CHECK(ends(kind.name, 7) != ends(kind.name, 8));
  }
}

TEST_CASE(
    "SpeCon evens out whenever a host idles where it is told to, and as often as it is told") {
  const auto moves = [](const PolicyParameters& parameters) {
    std::uint32_t sum = 0;
    for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
      ScheduleOptions options;
      options.start = Start::random;
      options.seed = seed;
      const Schedule schedule = find_schedule("specon-4x20")->make(options);
      PolicySet set = policy("specon").make(schedule, parameters);
      for (const Outcome& outcome : run(schedule, set, {}).jobs) sum += outcome.moves;
    }
    return sum;
  };
  PolicyParameters parameters;
  const std::uint32_t published = moves(parameters);
  parameters.cluster.rebalance_idle = true;
  const std::uint32_t idle = moves(parameters);
  CHECK(idle > published);
  parameters.cluster.categorise_interval = 10;
  CHECK(moves(parameters) > idle);
}
