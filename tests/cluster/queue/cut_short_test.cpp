// SPDX-License-Identifier: Apache-2.0
// Which runs of jobs have not come to their own end, whatever status they ended with.
#include "ctrl/log.h"
#include "tests/cluster/queue/group_tasks.h"
#include "tests/cluster/queue/two_queues.h"

namespace flowcon::cluster::test {
namespace {

TEST_CASE("a job that ends by itself has done what it was to do, one that a person stops has not") {
  QueueBench bench;
  const std::string id = bench.submit("vae", "cpu=1,mem=1G");
  bench.run(3);
  CHECK_FALSE(bench.queue->is_cut_short(id));
  const bool is_stopped = GENERATE(false, true);
  if (is_stopped) bench.engine.tell("kill", id);
  bench.engine.end_with(id, 0);
  CHECK(bench.queue->is_cut_short(id) == is_stopped);
  bench.run(5);
  CHECK(bench.state("vae") == (is_stopped ? "cancelled" : "done"));
  CHECK(bench.queue->is_cut_short(id) == is_stopped);
  CHECK_FALSE(bench.queue->is_cut_short(std::string(64, 'f')));
}

TEST_CASE("nor has one whose engine goes away") {
  QueueBench bench;
  bench.engine.stream_lasts_ = 20;
  bench.restart();
  const std::string id = bench.submit("vae", "cpu=1,mem=1G");
  bench.run(10);
  REQUIRE(bench.engine.runs(id));
  CHECK_FALSE(bench.queue->is_cut_short(id));
  bench.engine.is_deaf_ = true;
  bench.run(20);
  CHECK(bench.queue->is_cut_short(id));
  bench.engine.stream_lasts_ = 1e9;
  bench.engine.is_deaf_ = false;
  bench.run(10);
  CHECK_FALSE(bench.queue->is_cut_short(id));
}

TEST_CASE("nor a worker that was stopped since it is not needed any more, when that is over") {
  QueueBench bench;
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "1"}, {"flowcon.ps", "1"}});
  bench.run(5);
  REQUIRE(running(bench.engine) == 2);
  const std::string worker = tasks_of(bench.engine).at("net-w0")->id;
  const std::string server = tasks_of(bench.engine).at("net-s0")->id;
  bench.engine.end_with(worker, 0);
  bench.run(10);
  REQUIRE(bench.state("net") == "done");
  CHECK_FALSE(bench.queue->is_cut_short(worker));
  CHECK(bench.queue->is_cut_short(server));
}

TEST_CASE("nor one that was asked to save itself on another host, though it is done there") {
  ctrl::log::set_level(ctrl::log::Level::error);
  TwoQueues hosts;
  hosts.submit("vae", 2, {{"flowcon.checkpoint.signal", "SIGUSR1"}});
  REQUIRE(hosts.comes_to("vae", "running", 20));
  const std::string task = hosts.h1.task()->id;
  // What ends there stays for a while.
  hosts.h2.files.room_ = "not enough room on its disk";
  const bool is_parked = GENERATE(false, true);
  if (is_parked) {
    hosts.call("POST", "/v1/queue/vae/park");
  } else {
    hosts.end_task(0);
  }
  hosts.run(20);
  ctrl::log::set_level(ctrl::log::Level::info);
  REQUIRE(hosts.state("vae") == "returning");
  REQUIRE(hosts.h1.task() != nullptr);
  CHECK(hosts.h1.queues.back()->is_cut_short(task) == is_parked);
}

}  // namespace
}  // namespace flowcon::cluster::test
