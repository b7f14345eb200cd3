// SPDX-License-Identifier: Apache-2.0
#include "ctrl/policy/explain.h"

#include "base/json.h"
#include "ctrl/codec/milestone_json.h"
#include "ctrl/policy/algorithm.h"
#include "ctrl/policy/milestone_policy.h"
#include "tests/support/catch.h"

using namespace flowcon::ctrl;

namespace {

policy::ExecutorState state() {
  policy::ExecutorState s;
  s.containers = {{"gru", List::nl, 1.0, 0.15}, {"vae", List::wl, 0.4, 0.008}};
  return s;
}

using flowcon::Result;

policy::About about(const std::string& id, const std::string& since = "",
                    std::optional<double> granted = {}) {
  return {id, since, granted, nullptr};
}

Result<std::string> explain(const policy::ExecutorState& s, const std::string& id,
                            const std::string& since, std::optional<double> granted) {
  return policy::explain(s, policy::decide_executor(s), about(id, since, granted));
}

Result<std::string> explain(const policy::MilestoneState& s, const std::string& id,
                            std::optional<double> granted) {
  return policy::explain(s, policy::decide_milestone(s), about(id, "", granted));
}

Result<std::string> explain(const policy::ListenerState& s, const std::string& id) {
  return policy::explain(s, policy::decide_listener(s), about(id));
}

}  // namespace

TEST_CASE("a job that converges is explained with its numbers") {
  CHECK(*explain(state(), "vae", "12:04:10", {}) ==
        "converged, was watched: growth 0.8 %/s is under alpha 3 %; limit lowered from 40 % to "
        "25 %");
}

TEST_CASE("a job that stays on its list is told since when") {
  CHECK(*explain(state(), "gru", "12:04:10", {}) ==
        "learning since 12:04:10: growth 15 %/s is at least alpha 3 %; limit lowered from 100 % "
        "to 95 %");
  CHECK(explain(state(), "gru", "", {})->rfind("learning: growth", 0) == 0);
}

TEST_CASE("what floor, ceiling or pin made of the limit is told") {
  const std::string told = *explain(state(), "vae", "", 0.3);
  CHECK(told.find("; effective share 30 % (floor, ceiling, pin or migration)") !=
        std::string::npos);
}

TEST_CASE("a growth that is not measured is told as that") {
  policy::ExecutorState s = state();
  s.containers[0].growth.reset();
  s.containers[0].limit.reset();
  CHECK(*explain(s, "gru", "", {}) == "learning: growth is not measured; limit set to 100 %");
}

TEST_CASE("free competition is told with the next interval") {
  policy::ExecutorState s = state();
  for (policy::Member& m : s.containers) {
    m.list = List::cl;
    m.growth = 0.001;
  }
  CHECK(*explain(s, "gru", "", {}) ==
        "converged: growth 0.1 %/s is under alpha 3 %; all jobs have converged and compete freely, "
        "next decision in 40 s; limit kept at 100 %");
}

TEST_CASE("a rank is told with what it comes from") {
  policy::MilestoneState s;
  s.members.resize(2);
  s.members[0].id = "vae";
  s.members[0].left = 420;
  s.members[0].open90 = 0;
  s.members[0].due = 310;
  s.members[1].id = "gru";
  s.members[1].left = 1000;
  s.members[1].open90 = 0;
  s.members[1].is_blind = true;
  CHECK(*explain(s, "vae", 0.5) ==
        "rank 1 of 2: 420 CPU s left; due in 310 s; share 88 %; effective share 50 % (floor, "
        "ceiling, pin or migration)");
  CHECK(*explain(s, "gru", {}) == "rank 2 of 2: 1000 CPU s left (a guess); share 12 %");
  s.members[1].left = 1234567;
  CHECK(explain(s, "gru", {})->find(": 1230000 CPU s left") != std::string::npos);
  CHECK_FALSE(explain(s, "nobody", {}).has_value());
}

TEST_CASE("a rank is told with what says how much is left, as it was recorded") {
  const auto told = [](const std::string& of_job) {
    const auto state = policy::milestone_state_from(*flowcon::parse_json(
        R"({"cores":1,"containers":[{"id":"a","left":420,"open90":0)" + of_job + "}]}"));
    REQUIRE(state.has_value());
    const auto again = policy::milestone_state_from(policy::to_json(*state));
    REQUIRE(again.has_value());
    const std::string text = *explain(*again, "a", {});
    return text.substr(13, text.find(';') - 13);
  };
  CHECK(told(R"(,"from":"counter")") == "420 CPU s left (progress counter, weighs 100 %)");
  CHECK(told(R"(,"from":"log")") ==
        "420 CPU s left (progress counter, total from its log, weighs 100 %)");
  CHECK(told(R"(,"from":"environment","trust":0.8)") ==
        "420 CPU s left (progress counter, total from its environment, weighs 80 %)");
  CHECK(told(R"(,"from":"memory")") == "420 CPU s left (an earlier run, weighs 100 %)");
  CHECK(told(R"(,"from":"age","blind":true)") == "420 CPU s left (its age, a guess)");
  CHECK(told(R"(,"blind":true)") == "420 CPU s left (a guess)");
  CHECK(told(R"(,"from":"\u001b[2J")") == "420 CPU s left");
  CHECK(told("") == "420 CPU s left");
}

TEST_CASE("who came, who went, and what it means for the others") {
  policy::ListenerState s;
  s.executor = state();
  s.active = {"gru", "new"};
  CHECK(explain(s, "new")->rfind("arrived", 0) == 0);
  CHECK(explain(s, "vae")->rfind("left", 0) == 0);
  CHECK(*explain(s, "gru") ==
        "1 arrived, 1 left: the interval is 20 s again; the executor runs now");
  CHECK_FALSE(explain(s, "nobody").has_value());
  CHECK_FALSE(explain(state(), "nobody", "", {}).has_value());
}
