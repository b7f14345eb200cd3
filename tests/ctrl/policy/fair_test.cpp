// SPDX-License-Identifier: Apache-2.0
#include "ctrl/policy/fair.h"

#include <cmath>

#include "base/json.h"
#include "ctrl/codec/milestone_json.h"
#include "ctrl/policy/milestone_policy.h"
#include "tests/support/catch.h"

using namespace flowcon::ctrl;
using policy::FairWorld;

TEST_CASE("the fair world ends jobs as equal sharing does") {
  // 8 cores, 40 and 80 CPU seconds: 4 cores each, the first ends at 10 s; the other has 40 left and
  // 8 cores: 15 s.
  FairWorld world(8);
  world.add("a", 0);
  world.add("b", 0);
  world.expect("a", 40, 8);
  world.expect("b", 80, 8);
  const auto& ends = world.ends();
  CHECK(ends.at("a") == Approx(10));
  CHECK(ends.at("b") == Approx(15));
}

TEST_CASE("what a narrow job leaves goes to the others") {
  FairWorld world(8);
  world.add("narrow", 0);
  world.add("wide", 0);
  world.expect("narrow", 20, 2);
  world.expect("wide", 60, 8);
  CHECK(world.ends().at("wide") == Approx(10));
}

TEST_CASE("a job whose work is no number goes on for ever, and the world with it") {
  FairWorld world(8);
  world.add("a", 0);
  world.add("b", 0);
  world.expect("a", std::nan(""), 8);
  world.expect("b", 40, 8);
  world.advance(100);
  CHECK_FALSE(world.ends().contains("a"));
  CHECK(world.ends().at("b") == Approx(10));
}

TEST_CASE("a job that was favoured and ended goes on taking its share there") {
  // In this world a ended at 5 s with all 40 CPU seconds. There both have 20 by then; from there
  // 4 cores each: b ends where it would have ended, at 15 s.
  FairWorld world(8);
  world.add("a", 0);
  world.add("b", 0);
  world.expect("a", 40, 8);
  world.expect("b", 80, 8);
  world.advance(5);
  world.end("a", 40);
  CHECK(world.used("b") == Approx(20));
  CHECK(world.ends().at("b") == Approx(15));
  world.advance(12);
  CHECK(world.ends().at("b") == Approx(15));
}

TEST_CASE("what other programs have is not there for jobs, as long as they have it") {
  // 8 cores, of which others take 6 for the first 10 s: 20 of the 60 CPU seconds, and 40 by 8.
  FairWorld world(8);
  world.add("a", 0);
  world.expect("a", 60, 8);
  CHECK(world.ends().at("a") == Approx(7.5));
  world.set_cores_there(2);
  CHECK(world.ends().at("a") == Approx(30));
  world.advance(10);
  world.set_cores_there(8);
  CHECK(world.ends().at("a") == Approx(15));
}

TEST_CASE("a host that others have wholly has an end all the same") {
  FairWorld world(8);
  world.add("a", 0);
  world.expect("a", 8, 8);
  world.set_cores_there(-1);
  CHECK(world.ends().at("a") == Approx(100));
}

TEST_CASE("a job that was thought to be through and is not goes on") {
  FairWorld world(1);
  world.add("a", 0);
  world.expect("a", 5, 1);
  world.advance(20);
  CHECK(world.ends().at("a") == Approx(5));
  world.expect("a", 15, 1);
  CHECK(world.ends().at("a") == Approx(30));
}

namespace {

struct EightCores {
  policy::HostParameters parameters = [] {
    policy::HostParameters made;
    made.host.cores = 8;
    return made;
  }();
  policy::Forecaster forecaster{8, parameters.planner.least};
  policy::MilestonePolicy milestone{parameters, forecaster};
};

}  // namespace

TEST_CASE("milestone keeps the order of arrival out of it: equal jobs, other order, equal shares") {
  const auto job = [](const char* id, const growth::Track& track) {
    policy::JobView view;
    view.id = view.training = id;
    view.track = &track;
    return view;
  };
  const auto share_of_first = [&](bool is_turned) {
    growth::Track one;
    growth::Track other;
    for (growth::Track* track : {&one, &other}) {
      track->look({0, 0, 0, {}}, {});
      track->look({10, 40, 0, track == &one ? 0.5 : 0.1}, {{10, 1.0}});
    }
    EightCores host;
    policy::HostView view;
    view.now = {10, 10};
    view.jobs = {job("one", one), job("other", other)};
    if (is_turned) std::swap(view.jobs[0], view.jobs[1]);
    (void)host.milestone.follow({view.jobs[0].id, view.jobs[1].id}, nullptr);
    return host.milestone.decide(view, nullptr).jobs[is_turned ? 1 : 0].cpu.limit;
  };
  CHECK(share_of_first(false) > 0.5);
  CHECK(share_of_first(false) == share_of_first(true));
}

TEST_CASE("a job that prints nothing goes behind those that print, but for its first minute") {
  growth::Track silent, near, far;
  const metrics::Report nothing;
  metrics::Report loss;
  loss.metric = "loss";
  const auto rank_of_silent = [&](double age, const metrics::Report* report) {
    EightCores host;
    policy::HostView view;
    view.now = {age, age};
    for (const auto& [id, track] :
         {std::pair("silent", &silent), std::pair("near", &near), std::pair("far", &far)}) {
      policy::JobView job;
      job.id = job.training = id;
      job.track = track;
      job.report = track == &silent ? report : &loss;
      view.jobs.push_back(job);
    }
    (void)host.milestone.follow({"silent", "near", "far"}, nullptr);
    (void)host.milestone.decide(view, nullptr);
    return host.milestone.reason("silent").substr(0, 17);
  };
  for (growth::Track* track : {&silent, &near, &far}) track->look({0, 0, 0, {}}, {});
  silent.look({10, 40, 0, {}}, {});
  near.look({10, 40, 0, 0.1}, {});
  far.look({10, 40, 0, 0.05}, {});
  CHECK(rank_of_silent(10, &nothing) == "milestone: 1 of 3");
  CHECK(rank_of_silent(100, &nothing) == "milestone: 3 of 3");
  CHECK(rank_of_silent(100, &loss) == "milestone: 1 of 3");
  // Its values are read; which of them is the metric is not sure.
  metrics::Report unsure;
  unsure.candidates.push_back({"column 2", Goal::min, 1, 9});
  CHECK(rank_of_silent(100, &unsure) == "milestone: 1 of 3");
}

namespace {

// What milestone records of the first decision.
policy::MilestoneState recorded(EightCores& host, const policy::HostView& view) {
  std::vector<std::string> ids;
  for (const policy::JobView& job : view.jobs) ids.push_back(job.id);
  (void)host.milestone.follow(ids, nullptr);
  policy::Rounds rounds;
  (void)host.milestone.decide(view, &rounds);
  REQUIRE(rounds.size() == 1);
  const auto state = policy::milestone_state_from(*flowcon::parse_json(rounds[0].state));
  REQUIRE(state.has_value());
  return *state;
}

// Of one job on a host of 8 cores.
policy::MilestoneMember recorded(const policy::JobView& job, std::optional<double> cores_there) {
  EightCores host;
  policy::HostView view;
  view.now = {10, 10};
  view.cores_there = cores_there;
  view.jobs = {job};
  view.jobs[0].id = view.jobs[0].training = "a";
  return recorded(host, view).members.at(0);
}

}  // namespace

TEST_CASE("while one has no earlier run each has a hundredth of the host, and 15 % all together") {
  const auto share_of_last = [](int jobs, bool is_known) {
    std::vector<growth::Track> tracks(static_cast<std::size_t>(jobs));
    EightCores host;
    policy::HostView view;
    view.now = {10, 10};
    std::vector<std::string> ids;
    double done = 0.9;
    for (growth::Track& track : tracks) {
      track.look({0, 0, 0, {}}, {});
      track.look({10, 40, 0, done}, {{10, 1.0}});
      done *= 0.9;
      policy::JobView job;
      job.id = job.training = "job " + std::to_string(10 + ids.size());
      job.arrived = 10;
      job.track = &track;
      ids.push_back(job.id);
      view.jobs.push_back(job);
      if (is_known) host.forecaster.remember(job.training, {100, 0.5});
    }
    (void)host.milestone.follow(ids, nullptr);
    const policy::HostDecision decided = host.milestone.decide(view, nullptr);
    double least = 1;
    for (const auto& job : decided.jobs) least = std::min(least, job.cpu.limit);
    return least;
  };
  CHECK(share_of_last(10, false) == Approx(0.01).margin(1e-6));
  CHECK(share_of_last(30, false) == Approx(0.005).margin(1e-6));
  CHECK(share_of_last(10, true) == Approx(0.002).margin(1e-6));
}

TEST_CASE("while a course is a guess a usable model is worth more, if every end is told") {
  const auto worth = [](bool is_known, std::optional<double> done_of_other) {
    EightCores host;
    policy::HostView view;
    view.now = {10, 10};
    growth::Track told, other;
    for (growth::Track* track : {&told, &other}) track->look({0, 0, 0, {}}, {});
    told.look({10, 40, 0, 0.5}, {{10, 1.0}});
    other.look({10, 40, 0, done_of_other}, {{10, 1.0}});
    for (const auto& [id, track] : {std::pair("told", &told), std::pair("other", &other)}) {
      policy::JobView job;
      job.id = job.training = id;
      job.track = track;
      view.jobs.push_back(job);
      if (is_known) host.forecaster.remember(id, {100, 0.5});
    }
    return recorded(host, view).worth;
  };
  CHECK(worth(true, 0.1) == 0.85);
  CHECK(worth(false, 0.1) == 1.25);
  CHECK(worth(false, {}) == 0.85);
}

TEST_CASE("milestone's deadlines know what other programs leave") {
  growth::Track track;
  track.look({0, 0, 0, {}}, {});
  track.look({10, 40, 0, 0.5}, {{10, 1.0}});  // half of its work, by 4 cores
  policy::JobView job;
  job.arrived = 10;
  job.track = &track;
  const auto due = [&](std::optional<double> cores_there) {
    return recorded(job, cores_there).due;
  };
  REQUIRE(due({}).has_value());
  CHECK(due(8) == due({}));
  CHECK(*due(2) == Approx(4 * *due(8)));
}

TEST_CASE("milestone records what says how much of a job is left, and what that weighs") {
  growth::Track track;
  track.look({0, 0, 0, {}}, {});
  track.look({10, 40, 0, 0.5}, {{10, 1.0}});
  metrics::Report report;
  report.metric = "loss";
  policy::JobView job;
  job.track = &track;
  job.report = &report;
  const auto said = [&] {
    const policy::MilestoneMember member = recorded(job, {});
    return std::pair(member.from, member.trust);
  };
  CHECK(said() == std::pair(std::string("counter"), 1.0));
  report.counter.emplace().from = metrics::TotalFrom::environment;
  CHECK(said() == std::pair(std::string("environment"), 0.9));
  track = {};
  track.look({0, 0, 0, {}}, {});
  track.look({10, 40, 0, {}}, {{10, 1.0}});
  CHECK(said() == std::pair(std::string("age"), 1.0));
}
