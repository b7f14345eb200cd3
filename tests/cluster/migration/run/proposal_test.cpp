// SPDX-License-Identifier: Apache-2.0
// What is against a move, before anything is stopped.
#include "cluster/migration/plan/left_behind.h"
#include "tests/cluster/migration/run/two_hosts.h"

using namespace flowcon;
using namespace flowcon::cluster;
using namespace flowcon::cluster::test;

TEST_CASE("a container that does not run, or whose label says no, is not moved") {
  TwoHosts hosts;
  Box& box = *hosts.source.engine.first();
  box.copy = Copy::stopped;
  CHECK(hosts.begin() == "it does not run");
  box.copy = Copy::running;
  box.labels["flowcon.migrate"] = "no";
  CHECK(hosts.begin() == "its label flowcon.migrate says no");
  CHECK(hosts.source.rows.rows_.empty());
  CHECK(hosts.source.engine.acts_.empty());
}

TEST_CASE("a job of the queue is moved by nobody else") {
  TwoHosts hosts;
  hosts.source.engine.first()->labels["flowcon.queue"] = "true";
  CHECK(hosts.begin().starts_with("it is a job of the queue"));
  CHECK(hosts.source.rows.rows_.empty());
}

TEST_CASE("files that would stay behind are against a move without a path that it saves to") {
  TwoHosts hosts;
  hosts.source.files.left_.files = {"/model.pt"};
  hosts.source.engine.first()->labels.erase("flowcon.checkpoint.path");
  const std::string why = hosts.begin();
  CHECK(why.find("none of its learnt state would migrate") != std::string::npos);
  CHECK(why.find("it has written files that would not travel") != std::string::npos);
}

TEST_CASE("a layer with more changes than are looked at needs a path that it saves to") {
  TwoHosts hosts;
  hosts.source.files.left_.is_cut = true;
  hosts.source.engine.first()->labels.erase("flowcon.checkpoint.path");
  CHECK(hosts.begin().find(kTooManyChanges) != std::string::npos);
  Proposal named;
  named.plan.checkpoint.path = "/ckpt";
  weigh_left_behind(named, hosts.source.files.left_);
  CHECK(named.obstacles.empty());
  CHECK(named.notes.size() == 1);
}

TEST_CASE("files go only to a host whose engine maps users alike") {
  TwoHosts hosts;
  hosts.source.engine.user_mapping_ = "1000.1000";
  REQUIRE(hosts.begin().empty());
  REQUIRE(hosts.ends());
  CHECK(hosts.outcome() == "1 undone ");
  const Result<Entry> entry = parse_entry(hosts.source.rows.rows_.begin()->second.entry);
  REQUIRE(entry.has_value());
  CHECK(entry->reason == "h2 refuses: " + std::string(kOtherUsers));
  CHECK(hosts.source.engine.first()->lives == 1);  // it was not stopped

  TwoHosts alike;
  alike.source.engine.user_mapping_ = alike.target.engine.user_mapping_ = "1000.1000";
  REQUIRE(alike.begin().empty());
  REQUIRE(alike.ends());
  CHECK(alike.outcome() == "2 done done");
}

TEST_CASE("a target that does not compare how engines map users counts as one that maps none") {
  TwoHosts hosts;
  hosts.source.network.ask_ = [ask = hosts.source.network.ask_](
                                  std::string method, std::string path,
                                  std::string body) -> Async<Result<Answer>> {
    Result<Answer> said = co_await ask(std::move(method), std::move(path), std::move(body));
    if (!said) co_return said.error();
    boost::json::object older = parse_json(said->body)->as_object();
    older.erase("compares_users");
    co_return Answer{said->status, render_json(older)};
  };
  hosts.source.engine.user_mapping_ = hosts.target.engine.user_mapping_ = "1000.1000";
  const ctrl::api::Response rehearsed =
      hosts.answer(hosts.source, "POST migrate", R"({"dry_run":true})");
  CHECK(rehearsed.body.find("h2: " + std::string(kOtherUsers)) != std::string::npos);
  REQUIRE(hosts.begin().empty());
  REQUIRE(hosts.ends());
  CHECK(hosts.outcome() == "1 undone undone");
  CHECK(hosts.source.engine.first()->lives == 1);

  hosts.source.engine.user_mapping_ = hosts.target.engine.user_mapping_ = "";
  REQUIRE(hosts.begin().empty());
  CHECK(hosts.until([&] { return hosts.target.engine.runs(); }));
}

TEST_CASE("a container moves once at a time, and an image that is gone does not move") {
  TwoHosts hosts;
  hold_at("source.reserve:60");
  CHECK(hosts.begin().empty());
  CHECK(hosts.begin() == "it is migrating already");
  hold_at("");
  REQUIRE(hosts.ends());
  TwoHosts others;
  others.source.goods.images_.clear();
  CHECK(others.begin().starts_with("its image: no such image"));
}

TEST_CASE("a host that is not reachable or being stopped begins no move") {
  TwoHosts hosts;
  hosts.source.network.neighbours_.front().is_reachable = false;
  CHECK(hosts.begin() == "h2 is not reachable");
  hosts.source.network.neighbours_.front().is_reachable = true;
  hold_at("");
  auto life = [&]() -> Async<void> { co_await hosts.source.migrator().settle(0); };
  ctrl::spawn(hosts.io, "test", life);
  hosts.pass(1);
  CHECK(hosts.begin() == "flowcond is being stopped");
}
