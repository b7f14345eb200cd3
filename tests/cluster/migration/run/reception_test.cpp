// SPDX-License-Identifier: Apache-2.0
// What peers are told about moves: docs/peers.md.
#include "tests/cluster/migration/run/two_hosts.h"

using namespace flowcon;
using namespace flowcon::cluster;
using namespace flowcon::cluster::test;

namespace {

// What the target answers to a report of `speaker` about the move `id`.
ctrl::api::Response report(TwoHosts& hosts, const std::string& id, const std::string& speaker) {
  std::optional<ctrl::api::Response> said;
  ctrl::api::Request request;
  request.method = "POST";
  request.target = "/v1/peer/moves/" + id;
  request.body = "{}";
  auto life = [&]() -> Async<void> {
    const ctrl::api::Routes verbs = hosts.target.migrator().peer_routes();
    said = co_await ctrl::api::answer_peer(&verbs, request, speaker);
  };
  ctrl::spawn(hosts.io, "test", life);
  REQUIRE(hosts.until([&] { return said.has_value(); }));
  return *said;
}

}  // namespace

TEST_CASE("only a journal that was read whole says that it knows nothing of a move") {
  TwoHosts hosts;
  const std::string id(32, 'a');
  const ctrl::api::Response unknown = report(hosts, id, host_id('1'));
  CHECK(unknown.status == 404);
  CHECK(is_true(*parse_json(unknown.body), "no_such_move"));
  hosts.kill(hosts.target);
  hosts.target.rows.is_whole_ = false;
  hosts.start(hosts.target);
  CHECK(report(hosts, id, host_id('1')).status == 503);
  hosts.kill(hosts.target);
  hosts.target.rows.is_whole_ = true;
  hosts.target.rows.rows_["x"] = {"x", "{}", "{}", 0, std::nullopt};
  hosts.start(hosts.target);
  CHECK(report(hosts, id, host_id('1')).status == 503);
}

TEST_CASE("a move is told to its other side alone, and when it has ended too") {
  TwoHosts hosts;
  hold_at("target.transfer:10");
  REQUIRE(hosts.begin().empty());
  REQUIRE(hosts.until([&] { return hosts.target.rows.step() == "transfer"; }));
  const std::string id = hosts.target.rows.rows_.begin()->first;
  CHECK(report(hosts, id, host_id('3')).status == 403);
  CHECK(report(hosts, id, "").status == 403);
  CHECK(report(hosts, id, host_id('1')).status == 200);
  REQUIRE(hosts.ends());
  CHECK(report(hosts, id, host_id('3')).status == 403);
  const ctrl::api::Response ended = report(hosts, id, host_id('1'));
  CHECK(ended.status == 200);
  CHECK(text_of(member(*parse_json(ended.body), "entry"), "step") == "done");
}

TEST_CASE("nor to a host that asks for one of the same id") {
  TwoHosts hosts;
  hold_at("target.transfer:10");
  REQUIRE(hosts.begin().empty());
  REQUIRE(hosts.until([&] { return hosts.target.rows.step() == "transfer"; }));
  Result<Entry> theirs = parse_entry(hosts.source.rows.rows_.begin()->second.entry);
  REQUIRE(theirs.has_value());
  const auto status = [&](const std::string& speaker) {
    theirs->source = speaker;
    ctrl::api::Request request;
    request.method = "POST";
    request.target = "/v1/peer/moves";
    const std::string body = R"({"entry":)" + render(*theirs) + "}";
    std::optional<unsigned> said;
    auto life = [&]() -> Async<void> {
      ctrl::Pull pull = pull_of(body);
      const ctrl::api::Routes verbs = hosts.target.migrator().peer_routes();
      const ctrl::api::Response response =
          co_await ctrl::api::answer_peer(&verbs, request, speaker, std::move(pull));
      said = response.status;
    };
    ctrl::spawn(hosts.io, "test", life);
    REQUIRE(hosts.until([&] { return said.has_value(); }));
    return *said;
  };
  CHECK(status(host_id('3')) == 403);
  CHECK(status(host_id('1')) == 200);
}

TEST_CASE("no copy is called by what an engine takes for another container's id") {
  TwoHosts hosts;
  hold_at("target.transfer:10");
  REQUIRE(hosts.begin().empty());
  REQUIRE(hosts.until([&] { return hosts.target.rows.step() == "transfer"; }));
  const ctrl::store::Migration& row = hosts.source.rows.rows_.begin()->second;
  Result<Entry> theirs = parse_entry(row.entry);
  const Result<Plan> plan = parse_plan(row.plan);
  REQUIRE(theirs.has_value());
  REQUIRE(plan.has_value());
  theirs->id = std::string(32, 'a');
  theirs->step = Step::reserve;
  const auto answer = [&](const std::string& name) {
    theirs->name = name;
    ctrl::api::Request request;
    request.method = "POST";
    request.target = "/v1/peer/moves";
    const std::string body =
        R"({"entry":)" + render(*theirs) + R"(,"plan":)" + render_json(to_json(*plan)) + "}";
    std::optional<ctrl::api::Response> said;
    auto life = [&]() -> Async<void> {
      ctrl::Pull pull = pull_of(body);
      const ctrl::api::Routes verbs = hosts.target.migrator().peer_routes();
      said = co_await ctrl::api::answer_peer(&verbs, request, host_id('1'), std::move(pull));
    };
    ctrl::spawn(hosts.io, "test", life);
    REQUIRE(hosts.until([&] { return said.has_value(); }));
    return *said;
  };
  const ctrl::api::Response named = answer(std::string(64, 'e'));
  CHECK(named.status == 422);
  CHECK(named.body.find("the name is none") != std::string::npos);
  CHECK(answer("other").status == 200);
}

TEST_CASE("a copy that was not looked at since the start is not told of") {
  TwoHosts hosts;
  hold_at("source.start:600");
  REQUIRE(hosts.begin().empty());
  REQUIRE(hosts.until([&] { return hosts.source.rows.step() == "start"; }));
  const std::string id = hosts.target.rows.rows_.begin()->first;
  hosts.kill(hosts.target);
  hosts.target.engine.is_dead_ = true;
  hosts.start(hosts.target);
  CHECK(report(hosts, id, host_id('1')).status == 503);
  hosts.target.engine.is_dead_ = false;
  hosts.pass(10);
  CHECK(report(hosts, id, host_id('1')).status == 200);
}

TEST_CASE("a host that has no room says so and takes nothing") {
  TwoHosts hosts;
  hosts.target.files.room_ = "not enough room on its disk";
  REQUIRE(hosts.begin().empty());
  REQUIRE(hosts.ends());
  CHECK(hosts.outcome() == "1 undone ");
  const Result<Entry> entry = parse_entry(hosts.source.rows.rows_.begin()->second.entry);
  REQUIRE(entry.has_value());
  CHECK(entry->reason == "h2 refuses: not enough room on its disk");
  CHECK(hosts.target.engine.boxes_.empty());
}
