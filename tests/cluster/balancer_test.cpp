// SPDX-License-Identifier: Apache-2.0
// What leaves this host, and what is remembered of it.
#include "base/json_reader.h"
#include "cluster/lives.h"
#include "tests/cluster/stand.h"

namespace flowcon::cluster {
namespace {

using namespace test;
using Words = std::vector<std::string>;

TEST_CASE("a converged container goes to the host with the least to do") {
  Stand stand;
  stand.network.add("h2", '2', {1, 0, 0});
  stand.network.add("h3", '3', {0, 0, 1});
  stand.converge("a");
  CHECK(counted(stand.balancer->counts()) == "2/0/1");
  CHECK(stand.moves.orders_.empty());
  stand.ask("a");
  CHECK(stand.moves.orders_ == Words{"a>3 speculate"});
}

TEST_CASE("one for which no host has less to do stays, and is not asked about again") {
  Stand stand;
  stand.network.add("h2", '2', {9, 0, 0});
  stand.converge("a");
  stand.ask("a");
  CHECK(stand.moves.orders_.empty());
  CHECK(stand.person("GET cluster").at("containers").at(0).at("migrated").as_bool());
  stand.network.neighbours_[0].state->counts = {};
  stand.round({{"a", 0.4929}, {"x", 45}, {"y", 45}});
  stand.round({{"a", 0.49285}, {"x", 35}, {"y", 35}});
  CHECK(stand.moves.orders_.empty());
}

TEST_CASE("a host without others decides nothing, as others may come") {
  Stand stand;
  stand.converge("a");
  stand.ask("a");
  stand.network.add("h2", '2', {9, 0, 0}).is_reachable = false;
  stand.round({{"a", 0.4925}, {"x", 45}, {"y", 45}});
  CHECK_FALSE(stand.person("GET cluster").at("containers").at(0).at("migrated").as_bool());
}

TEST_CASE("hosts that are silent or drain take nothing") {
  Stand stand;
  stand.network.add("h2", '2', {}).is_reachable = false;
  stand.network.add("h3", '3', {}).state->draining = true;
  stand.network.add("h4", '4', {1, 0, 0});
  stand.converge("a");
  stand.ask("a");
  CHECK(stand.moves.orders_ == Words{"a>4 speculate"});
}

TEST_CASE("what its label does not allow is not moved, and decided like all others") {
  Stand stand;
  stand.network.add("h2", '2', {});
  stand.moves.fixed_.insert("a");
  stand.converge("a");
  stand.ask("a");
  CHECK(stand.moves.orders_.empty());
  CHECK(counted(stand.balancer->counts()) == "2/0/1");
}

TEST_CASE("speculate off moves nothing and categorises all the same") {
  Stand stand;
  stand.host.config_.balance.speculate = false;
  stand.network.add("h2", '2', {});
  stand.converge("a");
  stand.ask("a");
  CHECK(stand.moves.orders_.empty());
  CHECK(counted(stand.balancer->counts()) == "2/0/1");
}

TEST_CASE("one move at a time, the next on what the one before left") {
  Stand stand;
  stand.network.add("h2", '2', {});
  double other = 100;
  const auto both = [&](double value) {
    stand.round({{"a", value}, {"b", value}, {"x", other}, {"y", other}});
    other -= 10;
  };
  for (const double value : {1.0, 0.5, 0.496, 0.494, 0.493}) both(value);
  CHECK(stand.moves.orders_ == Words{"a>2 speculate"});
  stand.look(1);
  CHECK(stand.moves.orders_.size() == 1);
  // It has arrived: h2 has one that has converged now.
  stand.moves.end("done");
  stand.network.neighbours_[0].state->counts = {0, 0, 6};
  std::erase(stand.host.view_.jobs, "a");
  stand.look(1);
  CHECK(stand.moves.orders_.size() == 1);
  const std::string state =
      stand.person("GET cluster").at("containers").at(0).at("id").as_string().c_str();
  CHECK(state == "b");
  CHECK(stand.person("GET cluster").at("containers").at(0).at("migrated").as_bool());
}

TEST_CASE("a move that comes to nothing is tried again elsewhere, later, three times in all") {
  Stand stand;
  for (const char digit : {'2', '3', '4', '5'}) {
    stand.network.add(std::string("h") + digit, digit, {0, 0, digit - '2'});
  }
  stand.moves.refusal_ = "the image is not there";
  stand.converge("a");
  stand.ask("a");
  CHECK(stand.moves.orders_ == Words{"a>2 speculate"});
  stand.look(1);
  CHECK(stand.moves.orders_.size() == 1);
  stand.moves.refusal_.clear();
  stand.look(20);
  CHECK(stand.moves.orders_ == Words{"a>2 speculate", "a>3 speculate"});
  stand.moves.end("undone");
  stand.look(1);
  stand.look(39);
  CHECK(stand.moves.orders_.size() == 2);
  stand.look(2);
  CHECK(stand.moves.orders_.back() == "a>4 speculate");
  stand.moves.end("undone");
  stand.look(1);
  stand.look(10000);
  stand.look(10000);
  CHECK(stand.moves.orders_.size() == 3);
}

TEST_CASE("a request is over when the container grows again or is gone") {
  Stand stand;
  stand.network.add("h2", '2', {});
  stand.moves.refusal_ = "no";
  stand.converge("a");
  stand.ask("a");
  stand.moves.refusal_.clear();
  stand.round({{"a", 0.2}, {"x", 45}, {"y", 45}});
  stand.look(100);
  CHECK(stand.moves.orders_.size() == 1);
}

TEST_CASE("a host that drains gives away all it may, one after the other, whatever its score") {
  Stand stand;
  stand.network.add("h2", '2', {5, 0, 0});
  stand.network.add("h3", '3', {9, 0, 0});
  stand.moves.fixed_.insert("x");
  stand.round({{"a", 1.0}, {"b", 1.0}, {"x", 1.0}});
  stand.network.is_draining_ = true;
  stand.look(1);
  CHECK(stand.moves.orders_ == Words{"a>2 drain"});
  stand.moves.end("done");
  stand.host.view_.jobs = {"b", "x"};
  stand.look(1);
  CHECK(stand.moves.orders_ == Words{"a>2 drain", "b>2 drain"});
  stand.moves.end("done");
  stand.host.view_.jobs = {"x"};
  stand.look(1);
  stand.look(100);
  CHECK(stand.moves.orders_.size() == 2);
}

TEST_CASE("a host that drains alone waits, and tries again when it is told to once more") {
  Stand stand;
  stand.round({{"a", 1.0}});
  stand.network.is_draining_ = true;
  stand.look(1);
  CHECK(stand.moves.orders_.empty());
  stand.network.add("h2", '2', {});
  stand.moves.refusal_ = "no room";
  for (int i = 0; i < 20; ++i) stand.look(1000);
  CHECK(stand.moves.orders_.size() == 3);
  stand.network.is_draining_ = false;
  stand.look(1);
  stand.network.is_draining_ = true;
  stand.look(1);
  CHECK(stand.moves.orders_.size() == 4);
}

TEST_CASE("category state survives a restart, with a wall clock that is this host's own") {
  Stand stand;
  stand.network.add("h2", '2', {9, 0, 0});
  stand.converge("a");
  stand.ask("a");
  stand.restart(100);
  CHECK(counted(stand.balancer->counts()) == "2/0/1");
  const auto shown = stand.person("GET cluster").at("containers").at(0);
  CHECK(shown.at("migrated").as_bool());
  CHECK(shown.at("converged_age").to_number<double>() == 110);
}

TEST_CASE("category state goes with a move, and knows what the move was for") {
  Stand stand;
  stand.converge("a");
  const std::optional<policy::CategoryState> sent = stand.balancer->export_state("a");
  REQUIRE(sent);
  CHECK_FALSE(stand.balancer->export_state("nobody"));
  stand.balancer->import_state("copy1", sent, "speculate");
  stand.balancer->import_state("copy2", sent, "rebalance");
  stand.balancer->import_state("copy3", sent, kDrain);
  stand.balancer->import_state("copy4", {}, kPerson);
  CHECK(stand.balancer->export_state("copy1")->migrated == 0.0);
  CHECK_FALSE(stand.balancer->export_state("copy1")->rebalanced);
  CHECK(stand.balancer->export_state("copy2")->rebalanced);
  const std::optional<policy::CategoryState> drained = stand.balancer->export_state("copy3");
  CHECK_FALSE(drained->migrated);
  CHECK(drained->category == policy::Category::cc);
  CHECK(drained->seen == sent->seen);
  CHECK(drained->converged == sent->converged);
  CHECK(stand.balancer->export_state("copy4")->category == policy::Category::pc);
  CHECK(stand.balancer->export_state("copy4")->seen == 0);
}

TEST_CASE("a life that makes no sense leaves what the move itself says") {
  Stand stand;
  stand.converge("a");
  JobLives lives;
  lives.join(*stand.balancer);
  const auto take = [&](const std::string& id, const std::string& text) {
    bool is_taken = false;
    auto life = [&]() -> Async<void> {
      const Result<void> done = co_await lives.import_life(id, text, "speculate");
      is_taken = done.has_value();
    };
    ctrl::spawn(stand.io, "test", life);
    stand.run();
    CHECK(is_taken);
    return stand.balancer->export_state(id).value();
  };
  std::string sent;
  auto give = [&]() -> Async<void> {
    const Result<std::string> text = co_await lives.export_life("a");
    sent = *text;
  };
  stand.now += 7;
  ctrl::spawn(stand.io, "test", give);
  stand.run();
  CHECK(sent.find(R"("seen_age":7,"converged_age":7,"migrated_age":null)") != std::string::npos);
  stand.now += 100;  // the way is no part of the ages
  const policy::CategoryState copy = take("copy", sent);
  CHECK(copy.category == policy::Category::cc);
  CHECK(copy.seen == -7);
  CHECK(copy.converged == -7.0);
  CHECK(copy.migrated == 0.0);
  for (const char* text : {"", "{", "[]", "{}", "{\"marks\":7}", "{\"marks\":{\"category\":1}}"}) {
    const policy::CategoryState marks = take("other", text);
    CHECK(marks.category == policy::Category::pc);
    CHECK(marks.migrated == 0.0);
  }
  stand.balancer->forget_state("copy");
  CHECK_FALSE(stand.balancer->export_state("copy"));
}

TEST_CASE("a host shows what each gives to jobs, and who takes none or none yet") {
  Stand stand;
  stand.host.view_.cores = 4;
  stand.host.config_.queue.offer.mem = 1e9;
  stand.network.add("old", '2', {});
  peers::State& starts = *stand.network.add("starts", '3', {}).state;
  starts.runs_jobs = starts.queue_waits = true;
  starts.cores = 8;
  starts.memory = 1'000'000;
  peers::State& none = *stand.network.add("none", '4', {}).state;
  none.runs_jobs = true;
  none.offer_cpu = none.offer_mem = 0;
  const boost::json::value said = stand.person("GET cluster");
  const auto shown = [&](std::size_t host, const char* name) {
    return member(list_of(said, "hosts").at(host), name);
  };
  CHECK(real_of(shown(0, "offer_cpu")) == 4);
  CHECK(real_of(shown(0, "offer_mem")) == 1e9);
  CHECK(shown(0, "queue_waits").is_null());
  CHECK(shown(1, "offer_cpu").is_null());
  CHECK(shown(1, "queue_waits").is_null());
  CHECK(real_of(shown(2, "offer_cpu")) == 8);
  CHECK(real_of(shown(2, "offer_mem")) == 8e5);
  CHECK(is_true(shown(2, "queue_waits")));
  CHECK(real_of(shown(3, "offer_cpu")) == 0);
  CHECK(shown(3, "queue_waits") == false);
}

TEST_CASE("of its open migrations a host shows those that keep a job or its data there") {
  using migration::Method;
  Stand stand;
  const auto shown = [&](Method method, bool is_from_here, bool has_ended = false) {
    FakeMoves::Move move;
    move.method = method;
    move.ended = has_ended;
    move.source = host_id(is_from_here ? '1' : '2');
    move.target = host_id(is_from_here ? '2' : '1');
    stand.moves.moves_ = {move};
    const boost::json::value said = stand.person("GET cluster");
    return said.at("hosts").as_array().front().at("moves").to_number<int>();
  };
  for (const Method method : {Method::app, Method::criu}) {
    CHECK(shown(method, true) == 1);
    CHECK(shown(method, false) == 1);
  }
  CHECK(shown(Method::birth, true) == 0);
  CHECK(shown(Method::birth, false) == 1);
  CHECK(shown(Method::home, true) == 1);
  CHECK(shown(Method::home, false) == 0);
  CHECK(shown(Method::app, true, true) == 0);
}

TEST_CASE("a copy that is reserved here counts") {
  Stand stand;
  stand.moves.reserved_ = 2;
  CHECK(counted(stand.balancer->counts()) == "0/0/2");
}

}  // namespace
}  // namespace flowcon::cluster
