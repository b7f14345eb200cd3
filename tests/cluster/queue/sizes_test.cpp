// SPDX-License-Identifier: Apache-2.0
// What jobs ask for where nobody says it, beside what hosts have.
#include "tests/cluster/queue/group_tasks.h"

namespace flowcon::cluster::test {
namespace {

constexpr auto kRepeat = ctrl::estimate::EstimateBasis::repeat;

json::value asked(QueueBench& bench, const std::string& name) {
  return member(bench.job(name), "request");
}

double memory(QueueBench& bench, const std::string& name) {
  return member(asked(bench, name), "mem").to_number<double>();
}

// A job of which only earlier runs say what it needs.
std::string create(QueueBench& bench, const std::string& name) {
  return bench.engine.create(name, {{"flowcon.queue", "true"}});
}

TEST_CASE("a host that offers nothing starts no job, whatever that does not say") {
  QueueBench bench;
  bench.host.config_.queue.offer.is_none = true;
  SECTION("where no other host may have it, it is refused") {
    const std::string id = create(bench, "vae");
    bench.run(30);
    CHECK(bench.state("vae") == "refused");
    CHECK(bench.engine.lives(id) == 0);
  }
  SECTION("else it waits") {
    Neighbour& peer = bench.network.add("h2", '2', {});
    SECTION("for what one has that was not heard yet") { peer.state.reset(); }
    SECTION("or for an older one that knows no queue") { peer.state->runs_jobs = false; }
    const std::string id = create(bench, "vae");
    bench.run(30);
    CHECK(bench.state("vae") == "waiting");
    CHECK(bench.engine.lives(id) == 0);
  }
}

TEST_CASE("what a peer does not offer no job waits for") {
  QueueBench bench;
  Neighbour& peer = bench.network.add("h2", '2', {});
  peer.is_reachable = false;
  peer.state->runs_jobs = true;
  peer.state->cores = 64;
  peer.state->memory = std::int64_t{1} << 40;
  peer.state->offer_cpu = peer.state->offer_mem = 0;
  bench.estimates["python3 vae.py"] = {{"cpu", 6, 6, kRepeat, 5}};
  const std::string id = create(bench, "vae");
  bench.run(15);
  CHECK(bench.engine.runs(id));
  CHECK(member(asked(bench, "vae"), "cpu").to_number<double>() == 4);
  bench.submit("big", "cpu=8,mem=1G");
  CHECK(bench.state("big") == "refused");
}

TEST_CASE("after a start no job begins before it has been estimated") {
  QueueBench bench;
  bench.learnings = 0;
  std::vector<std::string> ids;
  for (int i = 0; i < 60; ++i) {
    const std::string name = "j" + std::to_string(i);
    bench.estimates["python3 " + name + ".py"] = {{"mem", 7 * kGiB, 7 * kGiB, kRepeat, 5}};
    ids.push_back(create(bench, name));
  }
  bench.run(3);
  bench.learnings = 1;
  bench.run(8);
  // Each has most of the host for itself.
  int lives = 0;
  for (const std::string& id : ids) lives += bench.engine.lives(id);
  CHECK(lives == 1);
}

TEST_CASE("a job that was killed at docker's limit has twice that, however little it asked for") {
  QueueBench bench;
  const std::string id =
      bench.engine.create("vae", {{"flowcon.queue", "true"}, {"flowcon.request", "cpu=1,mem=1G"}},
                          {{"Memory", 2 * static_cast<std::int64_t>(kGiB)}});
  bench.run(4);
  REQUIRE(bench.engine.runs(id));
  bench.engine.kill_for_memory(id);
  bench.run(5);
  CHECK(bench.engine.lives(id) == 2);
  CHECK(memory(bench, "vae") == 4 * kGiB);
  CHECK(std::count(bench.engine.acts_.begin(), bench.engine.acts_.end(), "memory 4294967296") == 1);
}

TEST_CASE("so have all tasks of a job of several containers") {
  QueueBench bench;
  bench.engine.create(
      "net",
      {{"flowcon.queue", "true"}, {"flowcon.request", "cpu=1,mem=1G"}, {"flowcon.workers", "2"}},
      {{"Memory", 3 * static_cast<std::int64_t>(kGiB / 2)}});
  bench.run(7);
  REQUIRE(running(bench.engine) == 2);
  bench.engine.kill_for_memory(tasks_of(bench.engine).at("net-w0")->id);
  bench.run(10);
  REQUIRE(names_of(bench.engine) == "net-w2 net-w3");
  const std::string task = tasks_of(bench.engine).at("net-w3")->id;
  const json::value inspect = bench.engine.inspects_.at(task);
  CHECK(member(member(inspect, "HostConfig"), "Memory").to_number<double>() == 3 * kGiB);
}

TEST_CASE("a job that was killed for memory asks for twice as much as somebody has set before") {
  QueueBench bench;
  const std::string id = bench.submit("vae", "cpu=1,mem=1G");
  bench.call("POST", "/v1/queue/vae/set", R"({"request":"mem=2G"})");
  CHECK(memory(bench, "vae") == 2 * kGiB);
  bench.run(15);
  REQUIRE(bench.engine.runs(id));
  bench.engine.kill_for_memory(id);
  bench.run(5);
  CHECK(bench.engine.lives(id) == 2);
  CHECK(text_of(asked(bench, "vae"), "mem_from") == "doubled");
  CHECK(memory(bench, "vae") == 4 * kGiB);
  bench.call("POST", "/v1/queue/vae/set", R"({"request":"mem=3G"})");
  bench.run(15);
  CHECK(memory(bench, "vae") == 3 * kGiB);
}

}  // namespace
}  // namespace flowcon::cluster::test
