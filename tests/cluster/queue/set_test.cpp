// SPDX-License-Identifier: Apache-2.0
// What a person changes of a job that waits.
#include "tests/cluster/queue/queue_fakes.h"

namespace flowcon::cluster::test {
namespace {

TEST_CASE("set changes what a waiting job asks for, and refuses what is wrong") {
  QueueBench bench;
  const std::string running = bench.submit("running", "cpu=3,mem=1G");
  const std::string id = bench.submit("vae", "cpu=2,mem=1G");
  CHECK_FALSE(bench.engine.runs(id));
  CHECK(bench.call("POST", "/v1/queue/vae/set", R"({"request":"cpu=two"})").status == 422);
  for (const char* body : {"", "{", "[]", "{}", R"({"color":"red"})", R"({"retries":1})"}) {
    INFO(body);
    CHECK(bench.call("POST", "/v1/queue/vae/set", body).status == 422);
  }
  CHECK(bench.call("POST", "/v1/queue/other/set", R"({"retries":"1"})").status == 404);
  CHECK(bench.call("POST", "/v1/queue/vae/set", R"({"request":"cpu=1"})").status == 200);
  bench.run(3);
  CHECK(bench.engine.runs(id));
  CHECK(text_of(member(bench.job("vae"), "request"), "cpu_from") == "set");
}

TEST_CASE("set leaves the part of a request that it does not name") {
  QueueBench bench;
  bench.submit("running", "cpu=3,mem=1G");
  bench.submit("vae", "cpu=2,mem=1G");
  const auto asked = [&] { return member(bench.job("vae"), "request"); };
  bench.call("POST", "/v1/queue/vae/set", R"({"request":"mem=2G"})");
  bench.call("POST", "/v1/queue/vae/set", R"({"request":"cpu=4"})");
  bench.run(3);
  CHECK(member(asked(), "mem").to_number<double>() == 2 * kGiB);
  CHECK(member(asked(), "cpu").to_number<double>() == 4);
  bench.call("POST", "/v1/queue/vae/set", R"({"request":"none"})");
  bench.run(3);
  CHECK(text_of(asked(), "mem_from") == "label");
  CHECK(text_of(asked(), "cpu_from") == "label");
}

TEST_CASE("set takes nothing that no host could ever hold") {
  QueueBench bench;
  bench.submit("vae", "cpu=4,mem=1G");
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "2"}});
  const auto set = [&](const std::string& job, const std::string& body) {
    return bench.call("POST", "/v1/queue/" + job + "/set", body);
  };
  const auto refused = set("vae", R"({"request":"cpu=64"})");
  CHECK(refused.status == 422);
  CHECK(text_of(refused.body, "error") ==
        "it asks for 64 cores and 1024 MiB of memory, and this host offers 4 and 8192 MiB; request "
        "less, or raise option offer");
  CHECK(set("net", R"({"workers":"5"})").status == 422);
  CHECK(set("net", R"({"workers":"4"})").status == 200);
  CHECK(set("vae", R"({"priority":"2"})").status == 200);
  CHECK(member(member(bench.job("vae"), "request"), "cpu").to_number<double>() == 4);
}

TEST_CASE("set takes no number of workers that a running job cannot start again with") {
  QueueBench bench;
  bench.submit("net", "cpu=1,mem=1G",
               {{"flowcon.workers", "1:2"},
                {"flowcon.elastic", "restart"},
                {"flowcon.checkpoint.signal", "SIGUSR1"},
                {"flowcon.checkpoint.timeout", "5"}});
  bench.run(5);
  REQUIRE(bench.state("net") == "running");
  const auto scale = [&] { return bench.call("POST", "/v1/queue/net/set", R"({"workers":"4"})"); };
  SECTION("since no job is parked") {
    bench.host.config_.queue.park = false;
    const auto refused = scale();
    CHECK(refused.status == 422);
    CHECK(text_of(refused.body, "error") ==
          "job net is running and does not start again by itself under park = off: park it first");
    bench.host.config_.queue.park = true;
  }
  SECTION("since it did not save itself") {
    bench.engine.ignores_signals_ = true;
    bench.call("POST", "/v1/queue/net/park", "{}");
    bench.run(20);
    REQUIRE(bench.state("net") == "running");
    const auto refused = scale();
    CHECK(refused.status == 422);
    CHECK(text_of(refused.body, "error") ==
          "job net is running and did not save itself when it was asked to: park it first");
    bench.engine.ignores_signals_ = false;
    bench.call("POST", "/v1/queue/net/park", "{}");
    bench.run(20);
    REQUIRE(bench.state("net") == "waiting");
  }
  CHECK(scale().status == 200);
}

TEST_CASE("what a running job of several containers may not ask for changes none of its tasks") {
  QueueBench bench;
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "2"}});
  bench.run(5);
  REQUIRE(bench.state("net") == "running");
  CHECK(bench.call("POST", "/v1/queue/net/set", R"({"request":"cpu=3"})").status == 422);
  for (const char* name : {"net", "net-w0"}) {
    INFO(name);
    const double cores = name == std::string("net") ? 2 : 1;
    CHECK(member(member(bench.job(name), "request"), "cpu").to_number<double>() == cores);
  }
  CHECK(bench.call("POST", "/v1/queue/net/set", R"({"request":"cpu=2"})").status == 200);
}

}  // namespace
}  // namespace flowcon::cluster::test
