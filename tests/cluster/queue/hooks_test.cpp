// SPDX-License-Identifier: Apache-2.0
// What hooks are told of jobs of the queue.
#include "tests/cluster/queue/group_tasks.h"
#include "tests/cluster/queue/queue_fakes.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::test {
namespace {

using Words = std::vector<std::string>;

Words told(const QueueBench& bench) {
  Words words;
  for (const ctrl::Event& event : bench.host.told_) words.emplace_back(ctrl::name(event.kind));
  return words;
}

TEST_CASE("hooks are told when a job waits, starts and has ended") {
  QueueBench bench;
  const std::string id = bench.submit("vae", "cpu=1,mem=1G");
  bench.run(3);
  bench.engine.end_with(id, 0);
  bench.run(3);
  CHECK(told(bench) == Words{"job-waits", "job-started", "job-ended"});
}

TEST_CASE("that a job is parked is told when it has saved itself, and not when it waits later") {
  QueueBench bench;
  const std::string id =
      bench.submit("vae", "cpu=1,mem=1G", {{"flowcon.checkpoint.signal", "SIGTERM"}});
  bench.run(3);
  REQUIRE(bench.call("POST", "/v1/queue/vae/park", "{}").status == 200);
  bench.run(30);
  CHECK(told(bench) == Words{"job-waits", "job-started", "job-parked"});
  // What was written says so, too.
  bench.restart();
  REQUIRE(bench.call("POST", "/v1/queue/vae/release", "{}").status == 200);
  bench.run(10);
  REQUIRE(bench.engine.runs(id));
  bench.host.told_.clear();
  bench.engine.kill_for_memory(id);
  bench.run(5);
  CHECK(told(bench) == Words{"job-waits", "job-started"});
}

TEST_CASE("a start that is refused after a job has saved itself parks it no second time") {
  QueueBench bench;
  bench.submit("vae", "cpu=1,mem=1G", {{"flowcon.checkpoint.signal", "SIGTERM"}});
  bench.run(3);
  REQUIRE(bench.call("POST", "/v1/queue/vae/park", "{}").status == 200);
  bench.run(30);
  REQUIRE(bench.state("vae") == "waiting");
  bench.host.told_.clear();
  bench.engine.lacks_ = "network train not found";
  REQUIRE(bench.call("POST", "/v1/queue/vae/release", "{}").status == 200);
  bench.run(80);
  const Words all = told(bench);
  CHECK(std::count(all.begin(), all.end(), "job-waits") > 0);
  CHECK(std::count(all.begin(), all.end(), "job-parked") == 0);
}

TEST_CASE("of a job that ends with an error when it is to save itself is told that it waits") {
  QueueBench bench;
  bench.engine.exit_code_ = 1;
  bench.submit("vae", "cpu=1,mem=1G", {{"flowcon.checkpoint.signal", "SIGTERM"}});
  bench.run(3);
  REQUIRE(bench.call("POST", "/v1/queue/vae/park", "{}").status == 200);
  bench.run(30);
  REQUIRE(bench.state("vae") == "waiting");
  CHECK(told(bench) == Words{"job-waits", "job-started", "job-waits"});
}

TEST_CASE("a job of several containers is parked when all have saved themselves") {
  QueueBench bench;
  bench.submit("net", "cpu=1,mem=1G",
               {{"flowcon.workers", "2"},
                {"flowcon.checkpoint.signal", "SIGUSR1"},
                {"flowcon.retries", "1"}});
  bench.run(5);
  REQUIRE(bench.call("POST", "/v1/queue/net/park", "{}").status == 200);
  bench.run(10);
  CHECK(told(bench) == Words{"job-waits", "job-started", "job-parked"});
  REQUIRE(bench.call("POST", "/v1/queue/net/release", "{}").status == 200);
  bench.run(5);
  REQUIRE(running(bench.engine) == 2);
  bench.host.told_.clear();
  bench.engine.end_with(tasks_of(bench.engine).begin()->second->id, 3);
  bench.run(10);
  CHECK(told(bench) == Words{"job-waits", "job-started"});
}

}  // namespace
}  // namespace flowcon::cluster::test
