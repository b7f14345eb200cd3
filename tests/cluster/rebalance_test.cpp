// SPDX-License-Identifier: Apache-2.0
// The load of all hosts: who decides, when, and what a host does with such an order.
#include "tests/cluster/stand.h"

namespace flowcon::cluster {
namespace {

using namespace test;
using Words = std::vector<std::string>;

policy::JobReport settled(const std::string& id, double age) {
  policy::JobReport job;
  job.id = id;
  job.name = "name-" + id;
  job.category = policy::Category::cc;
  job.converged_age = age;
  job.movable = true;
  return job;
}

policy::HostReport report(char digit, std::vector<policy::JobReport> containers) {
  return {host_id(digit), std::string("h") + digit, false, 0, std::move(containers), 1, {}};
}

policy::JobReport learning(const std::string& id) {
  policy::JobReport container = settled(id, 0);
  container.category = policy::Category::pc;
  container.converged_age.reset();
  return container;
}

// This host idle, h2 with two that have converged.
void make_uneven(Stand& stand) {
  stand.network.add("h2", '2', {0, 0, 2});
  stand.network.report('2', report('2', {settled("old", 100), settled("late", 5)}));
  stand.network.answers_[host_id('2') + " POST /v1/peer/move"] = {200, R"({"id":"m9"})"};
}

TEST_CASE("the lowest name coordinates, and of two the lowest id") {
  CHECK(coordinator_of({{"h2", "a"}, {"h1", "z"}, {"h3", "b"}}).id == "z");
  CHECK(coordinator_of({{"h1", "z"}, {"h1", "a"}}).id == "a");
}

TEST_CASE("the coordinator asks the container's own host to move it") {
  Stand stand;
  make_uneven(stand);
  stand.look(10);
  const Words orders = stand.network.orders();
  REQUIRE(orders.size() == 1);
  CHECK(orders.front().find("2{\"container\":\"late\",\"target\":\"" + host_id('1') +
                            "\",\"cause\":\"rebalance\",\"state\":{\"now\":0,\"guard\":true") == 0);
  CHECK(stand.moves.orders_.empty());
}

TEST_CASE("a host that is not the lowest-named decides nothing") {
  Stand stand;
  make_uneven(stand);
  stand.network.neighbours_[0].state->name = "a-host";
  stand.look(10);
  CHECK(stand.network.asked_.empty());
  CHECK(stand.peer('2', "POST", "/v1/peer/rebalance").at("error").as_string().find("a-host") !=
        std::string::npos);
  CHECK(stand.status == 409);
}

TEST_CASE("nothing is decided while a host is silent, or its report is another's") {
  Stand stand;
  make_uneven(stand);
  stand.network.add("h3", '3', {}).is_reachable = false;
  stand.network.neighbours_[1].error = "h3 fell silent";
  stand.look(10);
  CHECK(stand.network.orders().empty());
  CHECK(stand.person("POST rebalance").at("error").as_string().find("h3 fell silent") !=
        std::string::npos);
  stand.network.neighbours_[1].is_reachable = true;
  stand.look(10);  // reachable and without an answer
  CHECK(stand.network.orders().empty());
  stand.network.report('3', report('2', {}));
  stand.look(10);
  CHECK(stand.network.orders().empty());
  stand.network.report('3', report('3', {}));
  stand.look(10);
  CHECK(stand.network.orders().empty());  // two containers on three hosts are even
  stand.network.report('2', report('2', {settled("a", 9), settled("b", 8), settled("c", 7)}));
  const auto done = stand.person("POST rebalance");
  CHECK(done.at("moves").at(0).at("state") == "begun");
  CHECK(done.at("moves").at(1).at("state") == "later");  // one at a time from each host
  CHECK(stand.network.orders().size() == 1);
}

TEST_CASE("a host that idles takes what has converged while others learn") {
  Stand stand;
  make_uneven(stand);
  stand.network.report('2', report('2', {settled("old", 100), learning("new")}));
  stand.look(10);
  REQUIRE(stand.network.orders().size() == 1);
  CHECK(stand.network.orders()[0].find("\"container\":\"old\"") != std::string::npos);
}

TEST_CASE("nothing is decided while somebody learns, is moved, or the option is off") {
  Stand stand;
  stand.host.config_.balance.rebalance_idle = false;
  make_uneven(stand);
  stand.network.report('2', report('2', {settled("old", 100), learning("new")}));
  stand.look(10);
  CHECK(stand.network.orders().empty());
  auto moving = report('2', {settled("old", 100), settled("late", 5)});
  moving.moves = 1;
  stand.network.report('2', moving);
  stand.look(10);
  CHECK(stand.network.orders().empty());
  make_uneven(stand);
  stand.network.neighbours_.pop_back();
  stand.host.config_.balance.rebalance = false;
  stand.look(10);
  CHECK(stand.network.orders().empty());
}

TEST_CASE("a move that is refused is not ordered again at once") {
  Stand stand;
  make_uneven(stand);
  stand.network.answers_[host_id('2') + " POST /v1/peer/move"] = {409, R"({"error":"no"})"};
  stand.look(10);
  CHECK(stand.network.orders().size() == 1);
  stand.look(10);
  REQUIRE(stand.network.orders().size() == 2);
  CHECK(stand.network.orders()[1].find("\"container\":\"old\"") != std::string::npos);
  stand.look(1);
  CHECK(stand.network.orders().size() == 2);
}

TEST_CASE("a person is shown the plan, and nothing is moved") {
  Stand stand;
  make_uneven(stand);
  const auto plan = stand.person("POST rebalance", R"({"dry_run":true})");
  CHECK(stand.status == 200);
  CHECK(render_json(plan.at("moves")) == R"([{"container":"late","name":"name-late","from":")" +
                                             host_id('2') + R"(","from_name":"h2","to":")" +
                                             host_id('1') +
                                             R"(","to_name":"h1","state":"planned","error":""}])");
  CHECK(plan.at("due").as_bool());
  CHECK(plan.at("balance_factor").to_number<int>() == 1);
  CHECK(plan.at("branch") == "idle");
  CHECK(stand.network.orders().empty());
  const auto done = stand.person("POST rebalance");
  CHECK(done.at("moves").at(0).at("state") == "begun");
  CHECK(stand.network.orders().size() == 1);
  CHECK(stand.person("POST rebalance", "{").at("error").is_string());
  CHECK(stand.status == 422);
}

TEST_CASE("another host's person is answered by the coordinator") {
  Stand stand;
  stand.network.add("a-host", '2', {});
  stand.network.answers_[host_id('2') + " POST /v1/peer/rebalance"] = {200, R"({"moves":[]})"};
  CHECK(render_json(stand.person("POST rebalance", R"({"dry_run":true})")) == R"({"moves":[]})");
  CHECK(stand.network.asked_.back().body == R"({"dry_run":true})");
  stand.network.answers_.clear();
  stand.person("POST rebalance");
  CHECK(stand.status == 502);
}

// A host h3 whose lowest-named peer h2 … orders.
struct Ordered : Stand {
  Ordered() {
    network.add("a-host", '2', {});
    network.add("h4", '4', {});
    converge("a");
  }
  std::string order(char who, const std::string& container, char target,
                    const std::string& more = "") {
    const auto answer = peer(who, "POST", "/v1/peer/move",
                             R"({"container":")" + container + R"(","target":")" + host_id(target) +
                                 R"(","cause":"rebalance")" + more + "}");
    const auto& object = answer.as_object();
    return object.contains("error") ? std::string(object.at("error").as_string()) : "begun";
  }
};

TEST_CASE("a host follows the order of its coordinator, and looks itself whether it may") {
  Ordered stand;
  CHECK(stand.order('2', "a", '4') == "begun");
  CHECK(stand.moves.orders_ == Words{"a>4 rebalance"});
  CHECK(stand.order('2', "a", '4') == "the container is migrating");
  CHECK(stand.order('2', "x", '4') == "the container has not converged");
  CHECK(stand.order('2', "nobody", '4') == "No such container: it is not under control any more");
  CHECK(stand.status == 404);
}

TEST_CASE("nobody else may order") {
  Ordered stand;
  CHECK(stand.order('4', "a", '2') == "for this host a-host coordinates");
  CHECK(stand.order('2', "a", '9') == "this host does not reach the target, or that one drains");
  stand.network.neighbours_[1].state->draining = true;
  CHECK(stand.order('2', "a", '4') == "this host does not reach the target, or that one drains");
  stand.network.neighbours_[1].state->draining = false;
  stand.moves.fixed_.insert("a");
  CHECK(stand.order('2', "a", '4') == "the container's label does not allow it");
  stand.moves.fixed_.clear();
  stand.host.config_.balance.rebalance = false;
  CHECK(stand.order('2', "a", '4') == "this host has the option rebalance off");
  CHECK(stand.moves.orders_.empty());
  stand.peer('2', "POST", "/v1/peer/move", R"({"container":"a"})");
  CHECK(stand.status == 422);
}

TEST_CASE("in a swarm its leader coordinates, whatever the names") {
  Stand stand;
  make_uneven(stand);
  stand.network.leaders_.emplace();
  stand.look(10);
  CHECK(stand.person("POST rebalance").at("error").as_string().find("the swarm's leader") !=
        std::string::npos);
  stand.network.leaders_->push_back(host_id('2'));
  stand.look(10);
  CHECK(stand.network.orders().empty());
  stand.network.leaders_->front() = host_id('1');
  stand.network.neighbours_[0].state->name = "a-host";
  stand.look(10);
  CHECK(stand.network.orders().size() == 1);
}

TEST_CASE("a worker of a swarm follows its managers, and nobody else") {
  Ordered stand;
  stand.network.leaders_ = std::vector<std::string>{host_id('8'), host_id('4')};
  stand.network.add("h5", '5', {});
  CHECK(stand.order('2', "a", '5') != "begun");
  CHECK(stand.order('4', "a", '5') == "begun");
}

TEST_CASE("a container is rebalanced once") {
  Ordered stand;
  stand.balancer->import_state("a", stand.balancer->export_state("a"), "rebalance");
  CHECK(stand.order('2', "a", '4') == "the container was rebalanced already");
}

TEST_CASE("an order that comes to nothing is not followed again at once") {
  Ordered stand;
  stand.moves.refusal_ = "no room";
  CHECK(stand.order('2', "a", '4') == "no room");
  CHECK(stand.order('2', "a", '4') == "the container could not migrate a moment ago");
}

TEST_CASE("a report has ages, and no time of any clock") {
  Ordered stand;
  stand.now += 4;
  stand.balancer->count_tasks([] { return std::int64_t{1}; });
  const auto said = stand.peer('2', "GET", "/v1/peer/jobs");
  CHECK(said.at("id").as_string() == host_id('1').c_str());
  CHECK(said.at("moves").as_int64() == 0);
  CHECK(said.at("moves_here").as_int64() == 1);
  CHECK(
      render_json(said.at("containers").at(0)) ==
      R"({"id":"a","name":"name-a","category":"CC","value":0.494,"converged_age":4,)"
      R"("migrated_age":null,"rebalanced":false,"movable":true,"left":null,"width":null,"moves":0,"beginning":false,"queued":false,"saves_itself":false})");
}

}  // namespace
}  // namespace flowcon::cluster
