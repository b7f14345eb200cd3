// SPDX-License-Identifier: Apache-2.0
// A policy between hosts of one file, as somebody would add it: the first container of the host
// that has most goes to the one that has least. Both drivers take it by its name.
#include <algorithm>

#include "sim/engine.h"
#include "tests/cluster/stand.h"
#include "tests/sim/schedules.h"
#include "tests/support/catch.h"

namespace flowcon::cluster {
namespace {

using namespace policy;

class Even : public ClusterPolicy {
 public:
  void configure(const ClusterOptions& options) override { options_ = options; }
  std::vector<std::string> observe(const std::vector<Observed>& containers, double,
                                   Rounds* rounds) override {
    if (rounds != nullptr) rounds->push_back({"even-round", {}, "{}", "{}"});
    std::vector<std::string> asking;
    for (const Observed& one : containers) {
      if (one.value && *one.value < 0) asking.push_back(one.id);
    }
    return asking;
  }
  [[nodiscard]] bool wants_to_leave(const std::string&) const override { return true; }
  std::optional<Destination> choose(const SpeculateState& state, double, Rounds*) override {
    return Destination{state.workers.back().id, "even-request"};
  }
  Result<Plan> plan(const ClusterView& view, Rounds* rounds) override {
    Plan plan;
    const auto [least, most] = std::minmax_element(
        view.hosts.begin(), view.hosts.end(), [](const HostReport& a, const HostReport& b) {
          return a.containers.size() < b.containers.size();
        });
    plan.is_due = most->containers.size() > least->containers.size() + 1;
    if (!plan.is_due) return plan;
    if (rounds != nullptr) rounds->push_back({"even", {}, R"({"container":"a"})", "{}"});
    plan.moves.push_back({most->containers.front().id, most->id, least->id});
    return plan;
  }
  [[nodiscard]] const char* objection(const JobReport& container) const override {
    return container.moves >= options_.max_moves ? "the container has seen enough" : nullptr;
  }

 private:
  ClusterOptions options_;
};

const bool kIsAdded = [] {
  add_cluster_policy({"evenly", "from the host that has most", "even", "free",
                      [](const ClusterOptions&, Categories&) -> std::unique_ptr<ClusterPolicy> {
                        return std::make_unique<Even>();
                      }});
  return true;
}();

// A host with three containers that takes the policy by its name, and another without any.
struct Evened : test::Stand {
  Evened() {
    host.config_.balance.policy = "evenly";
    network.add("h2", '2', {});
    network.report('2', {test::host_id('2'), "h2", false, 0, {}, 1, {}});
  }
};

using Words = std::vector<std::string>;

TEST_CASE("flowcond takes a policy between hosts by its name and orders what it plans") {
  Evened stand;
  stand.round({{"a", 1}, {"b", 1}, {"c", 1}});
  CHECK(stand.moves.orders_ == Words{"a>2 even"});
  const auto shown = stand.person("POST rebalance", R"({"dry_run":true})");
  CHECK(shown.at("policy") == "evenly");
  CHECK(shown.at("moves").at(0).at("container") == "a");
  CHECK(stand.explained("even") == R"({"container":"a"})");
}

TEST_CASE("a container that its policy has leave goes where the policy says") {
  Evened stand;
  stand.round({{"a", 1}, {"b", -1}});
  CHECK(stand.moves.orders_ == Words{"b>2 even-request"});
}

TEST_CASE("a host follows the plan of its own policy alone, and only where that has no objection") {
  Evened stand;
  stand.network.add("a-host", '3', {});
  stand.round({{"a", 1}});
  const auto order = [&](const std::string& cause) {
    const auto answer = stand.peer(
        '3', "POST", "/v1/peer/move",
        R"({"container":"a","target":")" + test::host_id('2') + R"(","cause":")" + cause + "\"}");
    return answer.as_object().contains("error") ? std::string(answer.at("error").as_string())
                                                : "begun";
  };
  CHECK(order("rebalance").find("cluster-policy is evenly on this host") == 0);
  CHECK(order("unheard").find("must be rebalance or balance or even") != std::string::npos);
  for (int moves = 1; moves <= 2; ++moves) {
    stand.balancer->import_state("a", stand.balancer->export_state("a"), "even");
  }
  CHECK(order("even") == "the container has seen enough");
  stand.host.config_.balance.max_moves = 3;
  CHECK(order("even") == "begun");
}

TEST_CASE("a policy between hosts may be another one from one moment to the next") {
  Evened stand;
  stand.host.config_.balance.policy = "specon";
  stand.round({{"a", 1}, {"b", 1}, {"c", 1}});
  CHECK(stand.moves.orders_.empty());
  stand.host.config_.balance.policy = "evenly";
  stand.look(10);
  CHECK(stand.moves.orders_ == Words{"a>2 even"});
}

TEST_CASE("the simulator has it among its policies, and drives the same objects") {
  // Three jobs of 80 CPU seconds on the first of two hosts of 8 cores. One moves at the beginning,
  // is there at 5 s and ends 10 s later; the others share 8 cores and end at 20 s.
  sim::Schedule schedule =
      sim::on_one_host(8, {sim::job(0, 80, 8), sim::job(0, 80, 8), sim::job(0, 80, 8)});
  schedule.hosts.push_back(schedule.hosts.front());
  for (sim::JobSpec& spec : schedule.jobs) spec.host = 0;
  const sim::PolicyKind& kind = sim::policy("evenly");
  CHECK(kind.summary == "between hosts: from the host that has most; free on each");
  sim::PolicySet set = kind.make(schedule, {});
  const sim::RunResult result = sim::run(schedule, set, {});
  CHECK(result.jobs[0].host == 1);
  CHECK(result.jobs[0].moves == 1);
  CHECK(result.jobs[0].finished == Approx(15));
  CHECK(result.jobs[1].finished == Approx(20));
  CHECK(result.jobs[2].finished == Approx(20));
}

}  // namespace
}  // namespace flowcon::cluster
