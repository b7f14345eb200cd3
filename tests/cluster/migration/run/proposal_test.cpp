// SPDX-License-Identifier: Apache-2.0
// What is against a move, before anything is stopped.
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
  auto life = [&]() -> Async<void> { co_await hosts.source.mover().settle(0); };
  ctrl::spawn(hosts.io, "test", life);
  hosts.pass(1);
  CHECK(hosts.begin() == "flowcond is being stopped");
}
