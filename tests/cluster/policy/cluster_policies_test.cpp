// SPDX-License-Identifier: Apache-2.0
// SpeCon and balance as their drivers see them.
#include "cluster/policy/cluster_policies.h"

#include "tests/support/catch.h"

namespace flowcon::cluster::policy {
namespace {

struct Host {
  explicit Host(const char* name) : policy(find_cluster_policy(name)->make(options, categories)) {}
  // Brings "a" to CC beside two that learn, in rounds 30 s apart; the next one has it ask.
  void converge() {
    double other = 100;
    for (const double value : {1.0, 0.5, 0.496, 0.494}) observe(value, other -= 10);
  }
  std::vector<std::string> observe(double value, double other) {
    return policy->observe({{"a", value}, {"x", other}, {"y", other}}, now += 30, &rounds);
  }
  SpeculateState asking(Counts counts_there) {
    return {{}, "a", "h1", {{"h1", {2, 0, 1}, 1}, {"h2", counts_there, 1}}, false};
  }

  ClusterOptions options;
  Categories categories;
  std::unique_ptr<ClusterPolicy> policy;
  Rounds rounds;
  double now = 0;
};

ClusterView view_of(std::vector<HostReport> hosts) {
  return {std::move(hosts), [](const std::string&) { return false; }, false};
}

JobReport movable(const char* id) {
  JobReport job;
  job.id = id;
  job.movable = true;
  return job;
}

TEST_CASE("SpeCon records a round where a category changes or somebody asks to leave") {
  Host host("specon");
  CHECK(host.observe(1, 90).empty());
  CHECK(host.observe(0.5, 80).empty());
  CHECK(host.rounds.empty());
  CHECK(host.observe(0.496, 70).empty());
  REQUIRE(host.rounds.size() == 1);
  CHECK(host.rounds.back().algorithm == "categorise");
  CHECK(host.observe(0.494, 60).empty());
  CHECK(host.observe(0.493, 50) == std::vector<std::string>{"a"});
  CHECK(host.rounds.size() == 3);
}

TEST_CASE("one that SpeCon lets stay has had its migration and wants to leave no more") {
  Host host("specon");
  host.converge();
  CHECK(host.policy->wants_to_leave("a"));
  CHECK_FALSE(host.policy->wants_to_leave("x"));
  CHECK_FALSE(host.policy->wants_to_leave("unknown"));
  const auto chosen = host.policy->choose(host.asking({1, 0, 0}), host.now, &host.rounds);
  REQUIRE(chosen.has_value());
  CHECK(chosen->host == "h2");
  CHECK(chosen->cause == "speculate");
  CHECK(host.policy->wants_to_leave("a"));
  CHECK_FALSE(host.policy->choose(host.asking({9, 0, 0}), host.now, &host.rounds));
  CHECK(host.rounds.back().algorithm == "speculate");
  CHECK_FALSE(host.policy->wants_to_leave("a"));
}

TEST_CASE("of a host that drains a container goes for that reason, and has not had its migration") {
  Host host("specon");
  host.converge();
  SpeculateState state = host.asking({9, 0, 0});
  state.draining = true;
  const auto chosen = host.policy->choose(state, host.now, nullptr);
  REQUIRE(chosen.has_value());
  CHECK(chosen->cause == kDrain);
  CHECK(host.policy->wants_to_leave("a"));
}

TEST_CASE("with speculate off a converged container stays") {
  Host host("specon");
  host.options.speculate = false;
  host.policy->configure(host.options);
  host.converge();
  CHECK_FALSE(host.policy->wants_to_leave("a"));
}

TEST_CASE("SpeCon plans where all have converged, and for a person at any time") {
  Host host("specon");
  host.options.rebalance_idle = false;
  host.policy->configure(host.options);
  JobReport settled = movable("a");
  settled.category = Category::cc;
  settled.converged_age = 5;
  ClusterView view = view_of(
      {{"1", "h1", false, 0, {settled, movable("b")}, 1, {}}, {"2", "h2", false, 0, {}, 1, {}}});
  const auto early = host.policy->plan(view, &host.rounds);
  REQUIRE(early.has_value());
  CHECK_FALSE(early->is_due);
  CHECK(early->moves.empty());
  CHECK(host.rounds.empty());
  view.is_asked_for = true;
  const auto asked = host.policy->plan(view, &host.rounds);
  REQUIRE(asked->moves.size() == 1);
  CHECK(asked->moves[0].container == "a");
  CHECK_FALSE(asked->is_due);
  CHECK(host.rounds.size() == 1);
}

TEST_CASE("under balance nobody asks to leave, and its plans are always due") {
  Host host("balance");
  host.converge();
  CHECK(host.observe(0.493, 50).empty());
  CHECK(host.categories.count({"a", "x"}).cc == 1);
  CHECK_FALSE(host.policy->wants_to_leave("a"));
  CHECK(host.policy->wants_changes());
  const auto plan = host.policy->plan(view_of({{"1", "h1", false, 0, {}, 1, {}}}), nullptr);
  REQUIRE(plan.has_value());
  CHECK(plan->is_due);
}

TEST_CASE("a policy says why a container does not follow a plan") {
  Host specon("specon");
  JobReport job = movable("a");
  CHECK(specon.policy->objection(job) == std::string("the container has not converged"));
  job.migrated_age = 3;
  CHECK(specon.policy->objection(job) == nullptr);
  job.rebalanced = true;
  CHECK(specon.policy->objection(job) == std::string("the container was rebalanced already"));
  Host balance("balance");
  CHECK(balance.policy->objection(job) == nullptr);
  job.beginning = true;
  CHECK(balance.policy->objection(job) == std::string("the container has just begun"));
  job.moves = 2;
  CHECK(balance.policy->objection(job) ==
        std::string("the container has migrated as often as max-moves allows"));
}

TEST_CASE("what a move was for is known of a container that has landed") {
  const Host host("balance");
  const auto landed = [&](const char* cause) {
    CategoryState state;
    host.policy->land(state, cause, 7);
    return std::to_string(state.moves) + (state.migrated ? " migrated" : "") +
           (state.rebalanced ? " rebalanced" : "");
  };
  CHECK(landed(kPerson) == "0");
  CHECK(landed(kDrain) == "0");
  CHECK(landed("balance") == "1");
  CHECK(landed("speculate") == "1 migrated");
  CHECK(landed("rebalance") == "1 rebalanced");
  CHECK(landed("of-a-newer-flowcond") == "1");
}

TEST_CASE("a cause of another machine is a word, or it is a person's") {
  CHECK(read_cause("drain") == kDrain);
  CHECK(read_cause("of-a-newer-flowcond") == "of-a-newer-flowcond");
  for (const char* text : {"", "a b", "<b>", "0123456789", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}) {
    CHECK(read_cause(text) == kPerson);
  }
}

}  // namespace
}  // namespace flowcon::cluster::policy
