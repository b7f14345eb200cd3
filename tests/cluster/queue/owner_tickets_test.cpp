// SPDX-License-Identifier: Apache-2.0
// How containers become jobs, and what becomes of jobs that have ended.
#include "tests/cluster/queue/group_tasks.h"
#include "tests/cluster/queue/queue_fakes.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::test {
namespace {

// It is removed, and that is heard of.
void remove_container(QueueBench& bench, const std::string& id) {
  bench.engine.boxes_.erase(id);
  bench.engine.tell("destroy", id);
  bench.run(2);
}

// A job of two workers that has ended; its container.
std::string ended_group(QueueBench& bench) {
  std::string ticket = bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "2"}});
  bench.run(5);
  for (const auto& [name, box] : tasks_of(bench.engine)) bench.engine.end_with(box->id, 0);
  bench.run(5);
  REQUIRE(bench.state("net") == "done");
  REQUIRE(names_of(bench.engine) == "net-w0 net-w1");
  return ticket;
}

TEST_CASE("a label that says neither true nor hold is a job that is refused, false is none") {
  QueueBench bench;
  for (const char* value : {"maybe", "2", ""}) {
    INFO(value);
    const std::string name = std::string("job") + value;
    bench.engine.create(name, {{"flowcon.queue", value}});
    bench.run(2);
    CHECK(bench.state(name) == "refused");
    CHECK(bench.note(name) == "label flowcon.queue: \"" + std::string(value) +
                                  "\" is neither true nor hold: the container does not wait");
  }
  for (const char* value : {"false", "No"}) {
    bench.engine.create("none", {{"flowcon.queue", value}});
    bench.run(2);
    CHECK(bench.call("GET", "/v1/queue/none").status == 404);
  }
}

TEST_CASE("a refused job is forgotten when its container is removed, heard of or not") {
  QueueBench bench;
  const std::string heard = bench.submit("big", "cpu=99,mem=1G");
  REQUIRE(bench.state("big") == "refused");
  remove_container(bench, heard);
  CHECK(bench.call("GET", "/v1/queue/big").status == 404);
  CHECK(bench.rows.rows_.empty());

  const std::string missed = bench.submit("huge", "cpu=99,mem=1G");
  const std::string kept = bench.submit("kept", "cpu=99,mem=1G");
  bench.engine.boxes_.erase(missed);
  bench.restart();
  CHECK(bench.call("GET", "/v1/queue/huge").status == 404);
  CHECK(bench.state("kept") == "refused");
  CHECK(bench.rows.rows_.size() == 1);
}

TEST_CASE("who removes the ticket of a job that is over removes its tasks, if that is heard") {
  QueueBench bench;
  const std::string ticket = ended_group(bench);
  remove_container(bench, ticket);
  CHECK(bench.engine.boxes_.empty());
  CHECK(bench.state("net") == "done");
  const std::string again = ended_group(bench);
  bench.engine.boxes_.erase(again);
  bench.restart();
  bench.run(5);
  CHECK(names_of(bench.engine) == "net-w0 net-w1");
}

TEST_CASE("a task that a person has started again stays when its job's ticket is removed") {
  QueueBench bench;
  const std::string ticket = ended_group(bench);
  bench.engine.boxes_.at(tasks_of(bench.engine).at("net-w1")->id).copy = Copy::running;
  remove_container(bench, ticket);
  CHECK(names_of(bench.engine) == "net-w1");
}

TEST_CASE("a task that a person starts while its job's tasks are removed stays") {
  QueueBench bench;
  const std::string ticket = ended_group(bench);
  bench.engine.on_remove_ended_ = [&bench](const std::string& id) {
    bench.engine.boxes_.at(id).copy = Copy::running;
  };
  remove_container(bench, ticket);
  CHECK(names_of(bench.engine) == "net-w0 net-w1");
}

TEST_CASE("an ended job keeps the name that a person gave it, whenever flowcond starts") {
  QueueBench bench;
  const std::string id = bench.submit("vae", "cpu=1,mem=1G");
  bench.run(3);
  bench.engine.end_with(id, 0);
  bench.run(5);
  REQUIRE(bench.state("vae") == "done");
  ctrl::engine::EngineEvent event;
  event.action = "rename";
  event.id = id;
  event.name = "older";
  event.time_ns = static_cast<std::int64_t>(bench.clock.wall() * 1e9);
  bench.engine.boxes_.at(id).name = "older";
  bench.engine.tell(event);
  bench.run(1);
  CHECK(bench.state("older") == "done");
  bench.restart();
  CHECK(bench.state("older") == "done");
  CHECK(bench.call("GET", "/v1/queue/vae").status == 404);
}

TEST_CASE("a job for which there is no place in the queue is taken up when there is one") {
  QueueBench bench;
  bench.most_jobs = 1;
  bench.restart();
  const std::string first = bench.submit("first", "cpu=1,mem=1G");
  const std::string second = bench.submit("second", "cpu=1,mem=1G");
  bench.run(150);
  CHECK_FALSE(bench.engine.runs(second));
  CHECK(bench.call("GET", "/v1/queue/second").status == 404);
  REQUIRE(bench.host.warnings_.size() == 1);
  CHECK(bench.host.warnings_.back() ==
        "container second is no job of the queue yet: 1 jobs wait already; remove some");
  bench.engine.end_with(first, 0);
  bench.run(80);
  CHECK(bench.engine.runs(second));
}

TEST_CASE("what is new and has to wait for a place stays new where the journal has lost entries") {
  QueueBench bench;
  bench.most_jobs = 1;
  bench.rows.is_whole_ = false;
  bench.restart();
  const std::string first = bench.submit("first", "cpu=1,mem=1G");
  const std::string second = bench.submit("second", "cpu=1,mem=1G");
  bench.run(5);
  REQUIRE(bench.engine.runs(first));
  bench.engine.end_with(first, 0);
  bench.run(80);
  CHECK(bench.engine.runs(second));
}

TEST_CASE("the tasks of a job do not count as jobs") {
  QueueBench bench;
  bench.most_jobs = 2;
  bench.restart();
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "2"}});
  bench.run(5);
  REQUIRE(running(bench.engine) == 2);
  const std::string id = bench.submit("vae", "cpu=1,mem=1G");
  bench.run(5);
  CHECK(bench.engine.runs(id));
}

TEST_CASE("a job that ended before those that are remembered is still found") {
  QueueBench bench;
  const std::string id = bench.submit("vae", "cpu=1,mem=1G");
  bench.run(3);
  bench.engine.end_with(id, 3);
  bench.run(5);
  REQUIRE(bench.state("vae") == "failed");
  bench.rows.read_at_most_ = 0;
  bench.restart();
  CHECK(list_of(bench.call("GET", "/v1/queue").body, "jobs").empty());
  for (const std::string& name : {std::string("vae"), id}) {
    CHECK(bench.state(name) == "failed");
    CHECK(member(bench.job(name), "exit").as_int64() == 3);
  }
  CHECK(bench.call("POST", "/v1/queue/vae/cancel", "{}").status == 404);
  CHECK(bench.call("GET", "/v1/queue/other").status == 404);
}

TEST_CASE("the tasks of such a job go with its ticket") {
  QueueBench bench;
  const std::string ticket = ended_group(bench);
  bench.rows.read_at_most_ = 0;
  bench.restart();
  remove_container(bench, ticket);
  CHECK(names_of(bench.engine).empty());
}

TEST_CASE("the list has the last 20 that have ended, or as many as are asked for") {
  QueueBench bench;
  for (int i = 0; i < 25; ++i) bench.submit("big" + std::to_string(i), "cpu=99,mem=1G");
  const auto shown = [&](const std::string& query) {
    return list_of(bench.call("GET", "/v1/queue" + query).body, "jobs").size();
  };
  CHECK(shown("") == 20);
  CHECK(shown("?ended=25") == 25);
  CHECK(shown("?ended=200") == 25);
  CHECK(shown("?ended=0") == 0);
  CHECK(bench.call("GET", "/v1/queue?ended=201").status == 422);
}

}  // namespace
}  // namespace flowcon::cluster::test
