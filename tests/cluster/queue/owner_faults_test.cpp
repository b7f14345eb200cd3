// SPDX-License-Identifier: Apache-2.0
// Wherever flowcond waits for its journal or its engine it is killed, and starts again over the
// same rows and the same containers, or the answer is lost: no job starts twice, and none is lost.
#include "tests/cluster/queue/kill_bench.h"

namespace flowcon::cluster::test {
namespace {

TEST_CASE("a job that is started while anything fails starts once, and comes to its end") {
  at_each_wait([](KillBench& bench) {
    const std::string id = bench.submit({{"flowcon.queue", "true"}});
    bench.run(50);
    REQUIRE(bench.engine.runs(id));
    bench.engine.end_with(id, 0);
    bench.run(50);
    REQUIRE(bench.state() == "done");
    REQUIRE(bench.engine.lives(id) == 1);
  });
}

TEST_CASE("a job that is parked while anything fails comes back, and runs twice in all") {
  at_each_wait([](KillBench& bench) {
    const std::string id =
        bench.submit({{"flowcon.queue", "true"}, {"flowcon.checkpoint.signal", "SIGTERM"}});
    bench.run(50);
    bench.insist("park", [&] { return bench.state() == "waiting"; });
    REQUIRE(bench.state() == "waiting");
    REQUIRE_FALSE(bench.engine.runs(id));
    bench.insist("release", [&] { return bench.engine.runs(id); });
    REQUIRE(bench.engine.runs(id));
    bench.engine.end_with(id, 0);
    bench.run(50);
    REQUIRE(bench.state() == "done");
    REQUIRE(bench.engine.lives(id) == 2);
  });
}

TEST_CASE("a job that is cancelled while anything fails does not run in the end") {
  at_each_wait([](KillBench& bench) {
    const std::string id = bench.submit({{"flowcon.queue", "true"}});
    bench.run(1);  // it waits, is being started, or runs
    bench.insist("cancel", [&] { return bench.state() == "cancelled"; });
    bench.run(50);
    REQUIRE(bench.state() == "cancelled");
    const bool is_there = bench.engine.boxes_.contains(id);
    REQUIRE((!is_there || (!bench.engine.runs(id) && bench.engine.lives(id) <= 1)));
  });
}

TEST_CASE("a held job that is cancelled while anything fails never runs, and is removed") {
  at_each_wait([](KillBench& bench) {
    const std::string id = bench.submit({{"flowcon.queue", "hold"}});
    bench.run(50);
    bench.insist("cancel", [&] { return bench.state() == "cancelled"; });
    REQUIRE(bench.state() == "cancelled");
    REQUIRE_FALSE(bench.engine.boxes_.contains(id));
  });
}

TEST_CASE("a start that nobody answered is asked for again after half a minute, not before") {
  KillBench bench{Killer()};
  bench.engine.loses_start_ = true;
  const std::string id = bench.submit({{"flowcon.queue", "true"}});
  bench.run(25);
  CHECK(bench.state() == "starting");
  CHECK_FALSE(bench.engine.runs(id));
  bench.run(20);
  CHECK(bench.state() == "running");
  CHECK(bench.engine.lives(id) == 1);
}

TEST_CASE("the signal that asks a job to save itself is no stop by hand when it fails later") {
  KillBench bench{Killer()};
  bench.engine.ignores_signals_ = true;
  const std::string id = bench.submit({{"flowcon.queue", "true"},
                                       {"flowcon.retries", "1"},
                                       {"flowcon.checkpoint.signal", "SIGTERM"},
                                       {"flowcon.checkpoint.timeout", "5"}});
  bench.run(10);
  bench.ask("park");
  bench.run(20);
  REQUIRE(bench.state() == "running");
  bench.engine.end_with(id, 3);
  bench.run(10);
  CHECK(bench.state() == "running");
  CHECK(bench.engine.lives(id) == 2);
}

TEST_CASE("nor is it where flowcond is started again, and the engine tells of it once more") {
  QueueBench bench;
  bench.engine.ignores_signals_ = true;
  const std::string id = bench.submit("net", "cpu=1,mem=1G",
                                      {{"flowcon.retries", "1"},
                                       {"flowcon.checkpoint.signal", "SIGTERM"},
                                       {"flowcon.checkpoint.timeout", "5"}});
  bench.run(5);
  bench.call("POST", "/v1/queue/net/park", "{}");
  bench.run(1);
  const double asked = bench.clock.wall();
  bench.run(20);
  REQUIRE(bench.state("net") == "running");
  bench.restart();
  ctrl::engine::Event signal;
  signal.action = "kill";
  signal.id = id;
  signal.signal = SIGTERM;
  signal.time_ns = static_cast<std::int64_t>(asked * 1e9);
  bench.engine.tell(signal);
  bench.engine.end_with(id, 3);
  bench.run(10);
  CHECK(bench.engine.lives(id) == 2);
}

TEST_CASE("nothing is decided after a restart until what runs has been looked at") {
  QueueBench bench;
  const std::string first = bench.submit("first", "cpu=4,mem=1G");
  bench.run(5);
  REQUIRE(bench.engine.runs(first));
  bench.engine.is_silent_about_ = first;
  bench.restart();
  const std::string second = bench.submit("second", "cpu=1,mem=1G");
  bench.run(20);
  CHECK_FALSE(bench.engine.runs(second));
  bench.engine.is_silent_about_.clear();
  bench.run(20);
  CHECK_FALSE(bench.engine.runs(second));
  bench.engine.end_with(first, 0);
  bench.run(5);
  CHECK(bench.engine.runs(second));
}

TEST_CASE("an end counts as a person's where the engine remembers more than ends") {
  queue::LifeWatch watch;
  watch.hear_end(false);
  CHECK_FALSE(watch.was_stopped);
  watch.hear_end(true);
  CHECK(watch.was_stopped);
  watch.begin();
  watch.is_watched = false;
  watch.was_lost = true;
  watch.hear_end(true);
  CHECK_FALSE(watch.was_stopped);
  watch.is_watched = true;
  watch.hear_end(false);
  CHECK(watch.was_stopped);
}

}  // namespace
}  // namespace flowcon::cluster::test
