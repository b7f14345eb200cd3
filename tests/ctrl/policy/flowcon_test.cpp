// SPDX-License-Identifier: Apache-2.0
#include "ctrl/policy/flowcon.h"

#include <cmath>

#include "tests/support/catch.h"

using namespace flowcon::ctrl;

TEST_CASE("a job whose value was a number at no time is diverging, and one of zeros is not") {
  for (const double value : {std::nan(""), 0.0}) {
    policy::Flowcon flowcon{policy::HostParameters{}};
    metrics::Report report;
    report.metric = "loss";
    const growth::Track track{};
    policy::JobView job;
    job.id = "a";
    job.report = &report;
    job.track = &track;
    REQUIRE(flowcon.follow({"a"}, nullptr));
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
