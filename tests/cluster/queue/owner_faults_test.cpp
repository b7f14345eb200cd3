// SPDX-License-Identifier: Apache-2.0
// Wherever flowcond waits for its journal or its engine it is killed, and starts again over the
// same rows and the same containers, or the answer is lost: no job starts twice, and none is lost.
#include <algorithm>

#include "tests/cluster/queue/group_tasks.h"
#include "tests/cluster/queue/kill_bench.h"

namespace flowcon::cluster::test {
namespace {

// `at`: seconds since the epoch.
void tell_kill(QueueBench& bench, const std::string& id, int number, double at) {
  ctrl::engine::EngineEvent signal;
  signal.action = "kill";
  signal.id = id;
  signal.signal = number;
  signal.time_ns = static_cast<std::int64_t>(at * 1e9);
  bench.engine.tell(signal);
}

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
  tell_kill(bench, id, SIGTERM, asked);
  bench.engine.end_with(id, 3);
  bench.run(10);
  CHECK(bench.engine.lives(id) == 2);
}

TEST_CASE("a label signal does not hide that a person stopped the job") {
  for (const bool has_label : {false, true}) {
    INFO(has_label);
    QueueBench bench;
    std::map<std::string, std::string> labels{{"flowcon.retries", "1"}};
    if (has_label) labels["signal"] = "1";
    const std::string id = bench.submit("net", "cpu=1,mem=1G", labels);
    bench.run(5);
    REQUIRE(bench.state("net") == "running");
    tell_kill(bench, id, 1, bench.clock.wall());
    bench.engine.end_with(id, 3);
    bench.run(10);
    CHECK(bench.engine.lives(id) == (has_label ? 1 : 2));
  }
}

TEST_CASE("nor does a signal of the image's own that docker stop sends") {
  for (const char* own : {"SIGUSR1", ""}) {
    INFO(own);
    QueueBench bench;
    const std::string id = bench.engine.create(
        "net", {{"flowcon.queue", "true"}, {"flowcon.retries", "1"}, {"flowcon.request", "cpu=1"}});
    bench.engine.inspects_.at(id).at("Config").as_object()["StopSignal"] = own;
    bench.run(5);
    REQUIRE(bench.state("net") == "running");
    tell_kill(bench, id, SIGUSR1, bench.clock.wall());
    bench.engine.end_with(id, 3);
    bench.run(10);
    CHECK(bench.engine.lives(id) == (*own != '\0' ? 1 : 2));
  }
}

TEST_CASE("nor does it where flowcond is started again, before it has looked at the job") {
  for (const bool has_label : {false, true}) {
    INFO(has_label);
    QueueBench bench;
    std::map<std::string, std::string> labels{{"flowcon.retries", "1"}};
    if (has_label) labels["signal"] = "1";
    const std::string id = bench.submit("net", "cpu=1,mem=1G", labels);
    bench.run(5);
    REQUIRE(bench.state("net") == "running");
    bench.engine.is_silent_about_ = id;
    bench.restart();
    tell_kill(bench, id, 1, bench.clock.wall());
    bench.engine.end_with(id, 3);
    bench.engine.is_silent_about_.clear();
    bench.run(60);
    CHECK(bench.engine.lives(id) == (has_label ? 1 : 2));
  }
}

TEST_CASE("an order that could not be carried out at once is not carried out later") {
  QueueBench bench;
  const std::string first = bench.submit("first", "cpu=4,mem=1G");
  bench.run(5);
  REQUIRE(bench.engine.runs(first));
  const std::string second = bench.submit("second", "cpu=4,mem=1G");
  const std::string third = bench.submit("third", "cpu=4,mem=1G");
  bench.engine.is_silent_about_ = second;
  bench.engine.end_with(first, 0);
  bench.run(20);
  CHECK(bench.engine.runs(third));
  bench.engine.is_silent_about_.clear();
  bench.run(60);
  CHECK(bench.state("second") == "waiting");
  CHECK_FALSE(bench.engine.runs(second));
  bench.engine.end_with(third, 0);
  bench.run(20);
  CHECK(bench.engine.runs(second));
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

// ------------------------------------------------------------------ jobs of several containers

TEST_CASE("a group's stop that a busy journal does not take is asked for again") {
  QueueBench bench;
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "1"}, {"flowcon.ps", "1"}});
  bench.run(5);
  REQUIRE(running(bench.engine) == 2);
  bench.rows.is_locked_ = [](const queue::JobEntry& entry) {
    const bool has_tasks = entry.group && !entry.group->tasks.empty();
    return has_tasks && entry.group->tasks.back().state == queue::JobState::stopping;
  };
  bench.engine.end_with(tasks_of(bench.engine).at("net-w0")->id, 0);
  bench.run(20);
  const bool has_failed = !bench.rows.is_locked_;
  CHECK(has_failed);
  CHECK(bench.state("net") == "done");
  CHECK(running(bench.engine) == 0);
}

TEST_CASE("a task that its engine took down, and that was to be stopped then, starts again") {
  QueueBench bench;
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "2"}});
  bench.run(5);
  const std::string first = tasks_of(bench.engine).at("net-w0")->id;
  const std::string second = tasks_of(bench.engine).at("net-w1")->id;
  // The other one fails since its partner is gone, and is heard of first.
  bench.engine.is_silent_about_ = second;
  bench.engine.end_with(first, 1);
  bench.run(2);
  REQUIRE(bench.state("net") == "returning");
  Box& box = bench.engine.boxes_.at(second);
  box.copy = Copy::stopped;
  box.exit_code = 137;
  bench.engine.is_silent_about_.clear();
  bench.engine.forgets_ = true;
  bench.restart();
  bench.run(60);
  CHECK(bench.state("net") == "running");
  CHECK(names_of(bench.engine) == "net-w2 net-w3");
}

TEST_CASE("a task's container that was made while it was asked for again is that task's") {
  QueueBench bench;
  bench.engine.is_made_late_ = true;
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "2"}});
  bench.run(10);
  CHECK(bench.state("net") == "running");
  CHECK(names_of(bench.engine) == "net-w0 net-w1");
}

TEST_CASE("a host that refuses a worker that is to join is not asked again at once") {
  QueueBench bench;
  const std::string other = bench.submit("other", "cpu=3,mem=1G");
  bench.run(3);
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "1:3"}, {"flowcon.elastic", "join"}});
  bench.run(5);
  REQUIRE(running(bench.engine) == 1);
  bench.engine.refuses_create_ = "no such driver";
  bench.engine.acts_.clear();
  bench.engine.end_with(other, 0);
  bench.run(15);
  const std::vector<std::string>& acts = bench.engine.acts_;
  CHECK(std::count_if(acts.begin(), acts.end(),
                      [](const std::string& act) { return act.starts_with("create "); }) == 1);
  bench.engine.refuses_create_.clear();
  bench.run(30);
  CHECK(running(bench.engine) == 3);
}

TEST_CASE("a job whose containers the engine refuses is tried again later, and not at once") {
  QueueBench bench;
  bench.engine.refuses_create_ = "no such driver";
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "2"}});
  bench.run(10);
  const std::vector<std::string>& acts = bench.engine.acts_;
  CHECK(std::count_if(acts.begin(), acts.end(),
                      [](const std::string& act) { return act.starts_with("create "); }) == 1);
  CHECK(bench.state("net") == "waiting");
  CHECK_FALSE(bench.job("net").at("held").as_bool());
  bench.engine.refuses_create_.clear();
  bench.run(40);
  CHECK(bench.state("net") == "running");
}

TEST_CASE("a job whose network the engine has no addresses for waits, and is not held for that") {
  QueueBench bench;
  bench.engine.refuses_network_ = "could not find an available address pool";
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "2"}});
  bench.run(150);
  CHECK(bench.state("net") == "waiting");
  CHECK_FALSE(bench.job("net").at("held").as_bool());
  bench.engine.refuses_network_.clear();
  bench.run(40);
  CHECK(bench.state("net") == "running");
}

TEST_CASE("an end counts as a person's where the engine remembers more than ends") {
  queue::LifeWatch watch;
  watch.hear_signal(true, false);
  CHECK_FALSE(watch.was_stopped);
  watch.hear_signal(true, true);
  CHECK(watch.was_stopped);
  watch.begin();
  watch.is_watched = false;
  watch.was_lost = true;
  watch.hear_signal(true, true);
  CHECK_FALSE(watch.was_stopped);
  watch.is_watched = true;
  watch.hear_signal(true, false);
  CHECK(watch.was_stopped);
}

}  // namespace
}  // namespace flowcon::cluster::test
