// SPDX-License-Identifier: Apache-2.0
// `cluster` and `rebalance` against a daemon that knows canned answers.
#include "cmd/docker-flowcon/peer/cluster.h"

#include "tests/cmd/docker-flowcon/daemon_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

namespace flowcon::plugin {
namespace {

constexpr const char* kCluster =
    R"({"coordinator":"gpu1","coordinator_id":"aa","hosts":[)"
    R"({"name":"gpu1","id":"aa","state":"here","pc":2,"wc":0,"cc":1,"score":5,"usage":0.91,)"
    R"("cores":2,"containers":3,"offer_cpu":2,"offer_mem":8589934592,"draining":false,"error":""},)"
    R"({"name":"gpu2","id":"bb","state":"reachable","pc":1,"wc":0,"cc":0,"score":2,"usage":0.48,)"
    R"("cores":4,"containers":1,"offer_cpu":4,"offer_mem":8589934592,"draining":true,"error":""},)"
    R"({"name":"gpu3","id":"","state":"unknown","pc":null,"error":"gpu3 fell silent\u001b[2J"},7],)"
    R"("containers":[)"
    R"({"host":"gpu1","host_id":"aa","id":"c0336d5bab6d0000000000000000","name":"vae",)"
    R"("category":"CC","value":0.0431,"converged_age":125.5,"migrated":true,"rebalanced":false,)"
    R"("movable":true,"left":310.5,"moves":1},)"
    R"({"host":"gpu2","host_id":"bb","id":"a5b7825000b1","name":"gru\u001b[31m","category":"PC",)"
    R"("value":null,"converged_age":null,"migrated":false,"rebalanced":false,"movable":false}],)"
    R"("moves":[{"id":"m1","container":"c0","name":"old","side":"source","source":"aa",)"
    R"("target":"bb","source_name":"gpu1","target_name":"gpu2","method":"app","cause":"speculate",)"
    R"("step":"transfer","error":"","bytes":1048576,"bytes_total":null,"rate":10,"seconds":3,)"
    R"("steps":{"reserve":0,"save":0.14,"transfer":2.5},)"
    R"("stopped_seconds":null,"ended":false},)"
    R"({"id":"m0","container":"c1","name":"done","side":"target","source":"bb",)"
    R"("target":"aa","source_name":"gpu2","target_name":"gpu1","method":"criu","cause":"person",)"
    R"("step":"done","error":"","bytes":2097152,"bytes_total":null,"rate":0,"seconds":71.5,)"
    R"("stopped_seconds":6.44,"ended":true,"ended_age":7500}]})";

TEST_CASE_METHOD(DaemonFixture, "cluster shows hosts, containers and moves") {
  fake.answer("GET /v1/cluster", 200, kCluster);

  test::check_golden("plugin/cluster.txt", run({"cluster"}).out);
  test::check_golden("plugin/cluster.json", run({"cluster", "--format", "json"}).out);
  CHECK(run({"cluster", "-q"}).out == "gpu1\ngpu2\ngpu3\n");
  CHECK(run({"cluster", "--format", "{{.Name}} {{.Score}}"}).out ==
        "gpu1 5\ngpu2 2\ngpu3 <no value>\n");
}

TEST_CASE_METHOD(DaemonFixture, "cluster shows which hosts take jobs, and what they give") {
  fake.answer("GET /v1/cluster", 200,
              R"({"hosts":[{"name":"one","offer_cpu":1,"offer_mem":1073741824},)"
              R"({"name":"none","offer_cpu":0,"offer_mem":0},{"name":"old","offer_cpu":null},)"
              R"({"name":"new","offer_cpu":2,"offer_mem":1,"queue_waits":true}]})");
  CHECK(run({"cluster", "--format", "{{.Name}}: {{.OfferText}}"}).out ==
        "one: 1 core, 1GiB\nnone: none\nold: --\nnew: starts\n");
}

TEST_CASE_METHOD(DaemonFixture, "cluster shows the latest ten moves, and all to programs") {
  std::string moves;
  for (int i = 0; i < 14; ++i) {
    moves += (i > 0 ? "," : "") + std::string(R"({"name":"m)") + std::to_string(i) +
             R"(","ended":true,"ended_age":5})";
  }
  fake.answer("GET /v1/cluster", 200,
              R"({"hosts":[{"name":"gpu1","state":"here"}],"moves":[)" + moves + "]}");
  const std::string table = run({"cluster"}).out;
  CHECK(table.find("m9 ") != std::string::npos);
  CHECK(table.find("m10 ") == std::string::npos);
  CHECK(run({"cluster", "--format", "json"}).out.find(R"("Name":"m13")") != std::string::npos);
}

TEST_CASE_METHOD(DaemonFixture, "a cluster without containers is its hosts") {
  fake.answer("GET /v1/cluster", 200, R"({"hosts":[{"name":"gpu1","state":"here"}]})");
  CHECK(run({"cluster"}).out.find("CONTAINER ") == std::string::npos);
}

TEST_CASE_METHOD(DaemonFixture, "rebalance shows what is moved; one that is refused is a failure") {
  fake.answer("POST /v1/rebalance", 200,
              R"({"moves":[{"container":"c0","name":"vae","from":"aa","from_name":"gpu1",)"
              R"("to":"bb","to_name":"gpu2","state":"begun","error":""},)"
              R"({"container":"c1","name":"gru","from_name":"gpu1","to_name":"gpu3",)"
              R"("state":"refused","error":"no room"}]})");

  const Outcome done = run({"rebalance"});
  CHECK(done.status == 1);
  test::check_golden("plugin/rebalance.txt", done.out);
  CHECK(fake.requests().back().body == R"({"dry_run":false})");
  test::check_golden("plugin/rebalance.json",
                     run({"rebalance", "--dry-run", "--format", "json"}).out);
  CHECK(fake.requests().back().body == R"({"dry_run":true})");
}

TEST_CASE_METHOD(DaemonFixture, "where nothing is to be moved it says so") {
  fake.answer("POST /v1/rebalance", 200, R"({"moves":[]})");
  const Outcome done = run({"rebalance", "--dry-run"});
  CHECK(done.status == 0);
  CHECK(done.out.empty());
  CHECK(done.err.find("nothing to migrate") == 0);
  fake.answer("POST /v1/rebalance", 409, R"({"error":"a host is silent"})");
  CHECK(run({"rebalance"}).err == "a host is silent\n");
}

}  // namespace
}  // namespace flowcon::plugin
