// SPDX-License-Identifier: Apache-2.0
// A policy of one file, as somebody would add it: the last one that came has all. Both drivers take
// it by its name.
#include "ctrl/daemon/planning.h"
#include "sim/engine.h"
#include "tests/sim/schedules.h"
#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::ctrl;

namespace {

class LastFirst : public policy::HostPolicy {
 public:
  bool follow(const std::vector<std::string>& active, policy::Rounds* rounds) override {
    if (active == members_) return false;
    members_ = active;
    if (rounds != nullptr) rounds->push_back({"last-first", Resource::cpu, "{}", "{}"});
    return true;
  }
  policy::HostDecision decide(const policy::HostView& view, policy::Rounds*) override {
    policy::HostDecision decision;
    for (std::size_t i = 0; i < view.jobs.size(); ++i) {
      decision.jobs.emplace_back();
      decision.jobs.back().cpu.limit = i + 1 == view.jobs.size() ? 1 : 1e-9;
    }
    decision.watched.resize(view.watched.size());
    decision.next = 7;
    return decision;
  }
  [[nodiscard]] std::string reason(const std::string&) const override { return "came last"; }
  [[nodiscard]] double interval() const override { return 7; }
  void configure(const policy::HostParameters&) override {}
  void resume(const std::string& id, const policy::Standing&) override { members_.push_back(id); }
  void resume_interval(double) override {}
  void forget(const std::string&) override {}

 private:
  std::vector<std::string> members_;
};

const bool kIsAdded = [] {
  policy::add_host_policy(
      {"last-first", "the last one that came has all", policy::DividesBy::nothing,
       [](const policy::HostParameters&, policy::Forecaster&)
           -> std::unique_ptr<policy::HostPolicy> { return std::make_unique<LastFirst>(); }});
  return true;
}();

}  // namespace

TEST_CASE("flowcond takes a policy by its name and puts its jobs where it says") {
  Config config;
  REQUIRE(find_option("policy")->apply(config, "last-first"));
  Planning planning(config, Host());
  Planning::Jobs jobs;
  for (const char* id : {"old", "new", "paused"}) jobs[id].container.id = id;
  policy::Rounds rounds;
  REQUIRE(planning.follow({"old", "new"}, rounds));
  CHECK(planning.decide(jobs, {10, 10}, 0, rounds) == 7);
  CHECK(jobs["old"].cpu.limit == 1e-9);
  CHECK(jobs["new"].cpu.limit == 1);
  CHECK(jobs["new"].reason == "came last");
  CHECK(jobs["paused"].reason.empty());
  CHECK(rounds.size() == 1);
  CHECK_FALSE(planning.follow({"old", "new"}, rounds));
}

TEST_CASE("another policy of a new configuration goes on from where the jobs are") {
  Config config;
  config.policy = "last-first";
  Planning planning(config, Host());
  Planning::Jobs jobs;
  for (const char* id : {"old", "new"}) jobs[id].container.id = id;
  policy::Rounds rounds;
  REQUIRE(planning.follow({"old", "new"}, rounds));
  (void)planning.decide(jobs, {10, 10}, 0, rounds);
  config.policy = "flowcon";
  planning.configure(config, jobs);
  CHECK(planning.interval() == config.interval);
  CHECK_FALSE(planning.follow({"old", "new"}, rounds));
  (void)planning.decide(jobs, {11, 11}, 0, rounds);
  CHECK(jobs["new"].reason == "NL: growth not measured");
  CHECK(planning.divides_by() == policy::DividesBy::growth);
}

TEST_CASE("where all compete alike no limit of the policy before stays") {
  Config config;
  config.policy = "milestone";
  Planning planning(config, Host());
  Planning::Jobs jobs;
  jobs["a"].container.id = "a";
  policy::Rounds rounds;
  REQUIRE(planning.follow({"a"}, rounds));
  (void)planning.decide(jobs, {10, 10}, 0, rounds);
  for (const Resource resource : {Resource::memory, Resource::io}) {
    jobs["a"][resource].list = List::cl;
    jobs["a"][resource].limit = 0.25;
  }
  config.policy = "free";
  planning.configure(config, jobs);
  (void)planning.decide(jobs, {11, 11}, 0, rounds);
  for (const Resource resource : kResources) {
    CHECK(jobs["a"][resource].list == List::nl);
    CHECK(jobs["a"][resource].limit == 1);
  }
}

TEST_CASE("the simulator has it among its policies, and drives the same object") {
  // 8 cores: the second comes at 2 s and has them until 7 s, the first has 16 of 40 done then.
  const sim::Schedule schedule = sim::on_one_host(8, {sim::job(0, 40, 8), sim::job(2, 40, 8)});
  sim::PolicySet set = sim::policy("last-first").make(schedule, {});
  const sim::RunResult result = sim::run(schedule, set, {});
  CHECK(result.jobs[1].finished == Approx(7));
  CHECK(result.jobs[0].finished == Approx(10));
}

TEST_CASE("who asks for a policy that is none is told which there are") {
  Config config;
  const Result<void> applied = find_option("policy")->apply(config, "last");
  REQUIRE_FALSE(applied);
  CHECK(applied.error().what == "\"last\" is not one of flowcon|milestone|free|last-first");
}
