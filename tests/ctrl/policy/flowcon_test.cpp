// SPDX-License-Identifier: Apache-2.0
#include "ctrl/policy/flowcon.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/catch.h"

using namespace flowcon::ctrl;

namespace {

struct OneJob {
  policy::Flowcon flowcon{policy::HostParameters{}};
  metrics::Report report;
  growth::Track track;
  policy::JobView job;

  OneJob() {
    report.metric = "loss";
    job.id = "a";
    job.report = &report;
    job.track = &track;
    REQUIRE(flowcon.follow({"a"}, nullptr));
  }
};

// What is measured every 20 s of a job that prints a value each 3 s and uses half of the host. Each
// value is 1 less than the one before, after an hour half of that; then the clock is set forward by
// `jump` seconds, too.
std::vector<policy::Share> measured(double jump) {
  OneJob one;
  auto& [flowcon, report, track, job] = one;
  std::vector<policy::Share> shares;
  double offset = 1e9;
  for (double now = 1; now <= 4200; ++now) {
    if (now == 3600) {
      offset += jump;
      job.comparable_from = job.clock_from = now;
    }
    if (std::fmod(now, 3) == 2) {
      report.samples.push_back({offset + now, 1e4 - now / 6 - std::min(now, 3600.0) / 6});
      report.places.push_back(report.printed);
      if (report.head.size() < 8) report.head.push_back(report.samples.back());
      if (report.samples.size() > metrics::kKeptSamples) {
        report.samples.erase(report.samples.begin());
        report.places.erase(report.places.begin());
      }
      report.count = ++report.printed;
    }
    if (std::fmod(now, 20) != 0) continue;
    job.used = Used{now / 2, 0, {}, 0};
    policy::HostView view;
    view.now = {offset + now, now};
    view.jobs = {job};
    const policy::HostDecision decision = flowcon.decide(view, nullptr);
    if (now > 3600) shares.push_back(decision.jobs.at(0).cpu);
  }
  return shares;
}

}  // namespace

TEST_CASE("after the clock was set growth is measured from what was printed since") {
  const std::vector<policy::Share> expected = measured(0);
  for (const double jump : {-1200.0, 600.0}) {
    INFO(jump);
    const std::vector<policy::Share> shares = measured(jump);
    REQUIRE(shares.size() == expected.size());
    for (std::size_t i = 0; i < shares.size(); ++i) {
      INFO(i);
      CHECK(shares[i].is_fresh);
      REQUIRE((shares[i].growth && expected[i].growth));
      CHECK(*shares[i].growth == Approx(*expected[i].growth).epsilon(0.02));
    }
  }
}

TEST_CASE("a job whose value was a number at no time is diverging, and one of zeros is not") {
  for (const double value : {std::nan(""), 0.0}) {
    OneJob one;
    auto& [flowcon, report, track, job] = one;
    policy::HostDecision decision;
    for (const double now : {10.0, 30.0}) {
      report.samples.push_back({now - 5, value});
      report.head = report.samples;
      ++report.count;
      job.used = Used{now / 2, 0, {}, 0};
      policy::HostView view;
      view.now = {now, now};
      view.jobs = {job};
      decision = flowcon.decide(view, nullptr);
    }
    REQUIRE(decision.jobs.size() == 1);
    CHECK(decision.jobs[0].verdict ==
          (value == 0 ? growth::Verdict::unmeasured : growth::Verdict::diverging));
    CHECK(decision.jobs[0].cpu.list == List::nl);
    CHECK_FALSE(decision.jobs[0].cpu.growth_for_decision());
  }
}
