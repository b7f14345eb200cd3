// SPDX-License-Identifier: Apache-2.0
// cluster-policy = balance: who moves by the work that is left, when, and what a host does with
// such an order.
#include "cluster/codec/decision_json.h"
#include "cluster/policy/algorithms.h"
#include "tests/cluster/stand.h"

namespace flowcon::cluster {
namespace {

using namespace test;
using Words = std::vector<std::string>;

policy::JobReport job(const std::string& id, std::optional<double> left, std::uint32_t moves = 0) {
  policy::JobReport out;
  out.id = id;
  out.name = "name-" + id;
  out.movable = true;
  out.left = left;
  out.moves = moves;
  return out;
}

policy::HostReport report(char digit, std::vector<policy::JobReport> containers) {
  return {host_id(digit), std::string("h") + digit, false, 0, std::move(containers), 1.0, {}};
}

// This host, h1, coordinates and balances; an interval is 10 s, so nothing is asked before 5.
struct Balanced : Stand {
  Balanced() {
    host.config_.balance.policy = "balance";
    host.view_.cores = 1;
  }
  void add(const std::string& name, char digit, std::vector<policy::JobReport> containers) {
    const auto count = static_cast<std::int64_t>(containers.size());
    network.add(name, digit, {count, 0, 0});
    network.report(digit, report(digit, std::move(containers)));
    network.answers_[host_id(digit) + " POST /v1/peer/move"] = {200, R"({"id":"m9"})"};
  }
  void run_here(const std::map<std::string, double>& lefts) {
    host.lefts_ = lefts;
    for (const auto& [id, left] : lefts) host.view_.jobs.push_back(id);
  }
  std::size_t reports_asked() const {
    std::size_t count = 0;
    for (const auto& asked : network.asked_) count += asked.verb == "GET /v1/peer/jobs" ? 1 : 0;
    return count;
  }
};

TEST_CASE("an idle host takes the job with most left from the one that is busy longest") {
  Balanced stand;
  stand.add("h2", '2', {job("s", 30)});
  stand.add("h3", '3', {job("a", 300), job("b", 280), job("c", 40)});
  stand.look(10);
  const Words orders = stand.network.orders();
  REQUIRE(orders.size() == 1);
  CHECK(orders[0].find("3{\"container\":\"a\",\"target\":\"" + host_id('1') +
                       "\",\"cause\":\"balance\",\"state\":{\"move_seconds\":5,\"max_moves\":2") ==
        0);
}

TEST_CASE("what this host has too much of it gives away itself, and says why") {
  Balanced stand;
  stand.run_here({{"a", 300}, {"b", 200}, {"c", 150}});
  stand.add("h2", '2', {});
  stand.look(10);
  CHECK(stand.moves.orders_ == Words{"a>2 balance"});
  CHECK(stand.network.orders().empty());
  const std::string recorded = stand.explained("balance");
  const auto state = policy::steer_state_from(*parse_json(recorded));
  REQUIRE(state.has_value());
  CHECK(policy::decide_steer(*state).moves.at(0).container == "a");
  ctrl::policy::About about;
  about.id = "a";
  about.host_name = [&](const std::string& id) { return stand.balancer->host_name(id); };
  CHECK(ctrl::policy::sentence_about(*policy::find_algorithm("balance"), recorded, about)
            .find("goes to h2, which has 0 CPU s") == 0);
}

TEST_CASE("a move that is not worth its cost is not made") {
  Balanced stand;
  stand.run_here({{"a", 30}, {"b", 25}});
  stand.add("h2", '2', {});
  // Half a minute stands against what moves from here took: 100 s each, as was measured.
  stand.moves.moves_.push_back({"m0", "z", kPerson, migration::Step::done, true, 100});
  stand.look(10);
  CHECK(stand.moves.orders_.empty());
  CHECK(stand.reports_asked() == 1);
  stand.moves.moves_[0].stopped = 1;
  stand.look(10);
  CHECK(stand.moves.orders_.size() == 1);
}

TEST_CASE("a container that was moved twice stays, unless max-moves says otherwise") {
  Balanced stand;
  stand.add("h2", '2', {job("a", 300, 2), job("b", 280, 2)});
  stand.look(10);
  CHECK(stand.network.orders().empty());
  stand.host.config_.balance.max_moves = 3;
  stand.look(10);
  CHECK(stand.network.orders().size() == 1);
}

TEST_CASE("balance decides nothing while a host is silent or a container is on the move") {
  Balanced stand;
  stand.add("h2", '2', {job("a", 300), job("b", 280)});
  stand.network.add("h3", '3', {}).is_reachable = false;
  stand.look(10);
  CHECK(stand.network.orders().empty());
  stand.network.neighbours_.pop_back();
  auto moving = report('2', {job("a", 300), job("b", 280)});
  moving.moves = 1;
  stand.network.report('2', moving);
  stand.look(10);
  CHECK(stand.network.orders().empty());
  // It is asked again soon, not only with the next interval.
  stand.network.report('2', report('2', {job("a", 300), job("b", 280)}));
  stand.look(5);
  CHECK(stand.network.orders().size() == 1);
}

TEST_CASE("balance decides soon after a container came or went, and not more often than that") {
  Balanced stand;
  stand.add("h2", '2', {});
  stand.host.config_.balance.categorise_interval = 1000;
  stand.look(10);
  const std::size_t before = stand.reports_asked();
  stand.look(100);
  CHECK(stand.reports_asked() == before);
  stand.network.neighbours_[0].state->containers = 1;
  stand.look(1);
  CHECK(stand.reports_asked() == before + 1);
  stand.network.neighbours_[0].state->containers = 2;
  stand.look(1);
  CHECK(stand.reports_asked() == before + 1);
  stand.look(4);
  CHECK(stand.reports_asked() == before + 2);
  stand.host.view_.jobs.push_back("new");
  stand.look(5);
  CHECK(stand.reports_asked() == before + 3);
}

TEST_CASE("under balance nothing is speculated, and with rebalance off nothing is asked") {
  Balanced stand;
  stand.network.add("h2", '2', {});
  stand.converge("a");
  stand.ask("a");
  CHECK(stand.moves.orders_.empty());
  CHECK(counted(stand.balancer->counts()) == "2/0/1");
  Balanced off;
  off.host.config_.balance.rebalance = false;
  off.add("h2", '2', {job("a", 300), job("b", 280)});
  off.look(10);
  off.look(10);
  CHECK(off.network.asked_.empty());
}

TEST_CASE("a host that drains gives away all it may, under balance too") {
  Balanced stand;
  stand.add("h2", '2', {});
  stand.run_here({{"a", 1}});
  stand.network.is_draining_ = true;
  stand.look(1);
  CHECK(stand.moves.orders_ == Words{"a>2 drain"});
}

TEST_CASE("a person is shown the plan of balance") {
  Balanced stand;
  stand.add("h2", '2', {job("a", 300), job("b", 280)});
  const auto plan = stand.person("POST rebalance", R"({"dry_run":true})");
  CHECK(stand.status == 200);
  CHECK(plan.at("policy") == "balance");
  CHECK(plan.at("due").as_bool());
  CHECK(plan.at("balance_factor").is_null());
  CHECK(plan.at("branch").is_null());
  CHECK(plan.at("moves").at(0).at("container") == "b");
  CHECK(plan.at("moves").at(0).at("state") == "planned");
  CHECK(stand.network.orders().empty());
}

TEST_CASE("the count of moves goes with a container, and survives a restart") {
  Balanced stand;
  stand.balancer->import_state("a", {}, "balance");
  const auto moves_of = [&](const std::string& id) {
    return stand.balancer->export_state(id).value().moves;
  };
  CHECK(moves_of("a") == 1);
  for (const char* cause : {"balance", "speculate", "rebalance"}) {
    stand.balancer->import_state("b", stand.balancer->export_state("a"), cause);
    CHECK(moves_of("b") == 2);
  }
  for (const char* cause : {kPerson, kDrain}) {
    stand.balancer->import_state("c", stand.balancer->export_state("a"), cause);
    CHECK(moves_of("c") == 1);
  }
  stand.restart(10);
  CHECK(moves_of("b") == 2);
}

// A host h3 that balances, whose lowest-named peer orders.
struct Ordered : Balanced {
  Ordered() {
    network.add("a-host", '2', {});
    network.add("h4", '4', {});
    run_here({{"a", 300}, {"b", 200}});
  }
  std::string order(char who, const std::string& cause = "balance", const std::string& more = "") {
    const auto answer = peer(who, "POST", "/v1/peer/move",
                             R"({"container":"a","target":")" + host_id('4') + R"(","cause":")" +
                                 cause + "\"" + more + "}");
    const auto& object = answer.as_object();
    return object.contains("error") ? std::string(object.at("error").as_string()) : "begun";
  }
};

TEST_CASE("a host follows an order of balance and records what it was decided from") {
  Ordered stand;
  CHECK(stand.order('2', "balance",
                    R"(,"state":{"move_seconds":5,"max_moves":2,"gain":3,"hosts":[{"id":"x",)"
                    R"("cores":1,"containers":[{"id":"a","left":300,"width":1,"moves":0,)"
                    R"("may_move":true}]}]})") == "begun");
  CHECK(stand.moves.orders_ == Words{"a>4 balance"});
  CHECK(stand.explained("balance").find(R"("left":300)") != std::string::npos);
  CHECK(stand.order('2') == "the container is migrating");
}

TEST_CASE("a host refuses an order of balance that it may not follow") {
  Ordered stand;
  CHECK(stand.order('4') == "for this host a-host coordinates");
  CHECK(stand.order('2', "rebalance").find("cluster-policy is balance on this host") == 0);
  stand.host.config_.balance.policy = "specon";
  CHECK(stand.order('2').find("cluster-policy is specon on this host") == 0);
  stand.host.config_.balance.policy = "balance";
  stand.moves.fixed_.insert("a");
  CHECK(stand.order('2') == "the container's label does not allow it");
  stand.moves.fixed_.clear();
  stand.host.config_.balance.rebalance = false;
  CHECK(stand.order('2') == "this host has the option rebalance off");
  stand.host.config_.balance.rebalance = true;
  for (int moves = 1; moves <= 2; ++moves) {
    stand.balancer->import_state("a", stand.balancer->export_state("a"), "balance");
  }
  CHECK(stand.order('2') == "the container has migrated as often as max-moves allows");
  stand.host.config_.balance.max_moves = 3;
  stand.moves.refusal_ = "no room";
  CHECK(stand.order('2') == "no room");
  CHECK(stand.order('2') == "the container could not migrate a moment ago");
  CHECK(stand.order('2', "person").find("cause") == 0);
  CHECK(stand.status == 422);
  CHECK(stand.moves.orders_.size() == 1);
}

TEST_CASE("a report says what balance asks, and no more than can be believed") {
  Ordered stand;
  stand.host.lefts_["a"] = 1e300;
  stand.moves.moves_.push_back({"m0", "z", kPerson, migration::Step::done, true, 8});
  stand.moves.moves_.push_back({"m1", "z", kPerson, migration::Step::undone, true, {}});
  stand.moves.moves_.push_back({"m2", "z", kPerson, migration::Step::done, true, 6});
  stand.moves.moves_.push_back({"m3", "z", kPerson, migration::Step::done, true, -1});
  const auto said = stand.peer('2', "GET", "/v1/peer/jobs");
  CHECK(said.at("cores").to_number<double>() == 1);
  CHECK(said.at("move_seconds").to_number<double>() == 6);
  CHECK(said.at("containers").at(0).at("left").to_number<double>() == 1e12);
  CHECK(said.at("containers").at(1).at("left").to_number<double>() == 200);
  CHECK(said.at("containers").at(1).at("moves").to_number<double>() == 0);
  CHECK(policy::parse_report(render_json(said)).has_value());
}

}  // namespace
}  // namespace flowcon::cluster
