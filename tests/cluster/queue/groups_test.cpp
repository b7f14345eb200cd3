// SPDX-License-Identifier: Apache-2.0
// Jobs of several containers through the real queues and migrators: they start together or not at
// all, and end together, whoever dies, and whenever.
#include <algorithm>

#include "ctrl/log.h"
#include "tests/cluster/queue/group_tasks.h"
#include "tests/cluster/queue/kill_bench.h"
#include "tests/cluster/queue/two_queues.h"

namespace flowcon::cluster::test {
namespace {

TEST_CASE("workers and parameter servers of a job run beside each other, its ticket does not") {
  QueueBench bench;
  const std::string ticket =
      bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "2"}, {"flowcon.ps", "1"}});
  bench.run(5);
  CHECK(bench.state("net") == "running");
  CHECK(names_of(bench.engine) == "net-s0 net-w0 net-w1");
  CHECK(running(bench.engine) == 3);
  CHECK(bench.engine.networks_.size() == 1);
  CHECK_FALSE(bench.engine.runs(ticket));
  const std::string second = tasks_of(bench.engine).at("net-w1")->id;
  CHECK(variable(bench.engine, second, "RANK") == "1");
  CHECK(variable(bench.engine, second, "WORLD_SIZE") == "2");
  CHECK(variable(bench.engine, second, "MASTER_ADDR") == "net-w0");
  CHECK(variable(bench.engine, second, "FLOWCON_PS") == "net-s0:29500");
  const boost::json::value job = bench.job("net");
  CHECK(member(job, "workers").to_number<int>() == 2);
  CHECK(member(member(job, "request"), "cpu").to_number<double>() == 2.5);
  CHECK(list_of(job, "tasks").size() == 3);
}

TEST_CASE("a job of several containers waits until there is room for all of them") {
  QueueBench bench;
  const std::string first = bench.submit("first", "cpu=2,mem=1G");
  bench.run(3);
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "3"}});
  bench.run(30);
  CHECK(bench.state("net") == "waiting");
  CHECK(tasks_of(bench.engine).empty());
  bench.engine.end_with(first, 0);
  bench.run(5);
  CHECK(running(bench.engine) == 3);
  CHECK(member(member(bench.call("GET", "/v1/queue").body, "free"), "cpu").to_number<double>() ==
        1);
}

TEST_CASE("one that no host could hold as a whole is refused") {
  QueueBench bench;
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "5"}});
  CHECK(bench.state("net") == "refused");
}

TEST_CASE("what is only estimated refuses no job, and is no more than a host has for its tasks") {
  QueueBench bench;
  const auto repeat = ctrl::estimate::EstimateBasis::repeat;
  bench.estimates["python3 net.py"] = {{"mem", 7 * kGiB, 7 * kGiB, repeat, 5}};
  bench.submit("net", "cpu=1", {{"flowcon.workers", "2"}});
  bench.run(5);
  CHECK(bench.state("net") == "running");
  CHECK(running(bench.engine) == 2);
  const boost::json::value request = member(bench.job("net"), "request");
  CHECK(member(request, "mem").to_number<double>() == 8 * kGiB);
  CHECK(text_of(request, "mem_from") == "estimate");
}

TEST_CASE("a job of several containers is done when its workers are, and its servers are stopped") {
  QueueBench bench;
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "2"}, {"flowcon.ps", "1"}});
  bench.run(5);
  bench.engine.end_with(tasks_of(bench.engine).at("net-w0")->id, 0);
  bench.run(5);
  CHECK(bench.state("net") == "running");
  CHECK(running(bench.engine) == 2);
  bench.engine.end_with(tasks_of(bench.engine).at("net-w1")->id, 0);
  bench.run(5);
  CHECK(bench.state("net") == "done");
  CHECK(running(bench.engine) == 0);
  CHECK(member(bench.job("net"), "exit").to_number<int>() == 0);
  // Their logs are kept, as those of jobs are.
  CHECK(tasks_of(bench.engine).size() == 3);
}

TEST_CASE("where one task fails the others are stopped, and all start again while it may") {
  QueueBench bench;
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "2"}, {"flowcon.retries", "1"}});
  bench.run(5);
  bench.engine.end_with(tasks_of(bench.engine).at("net-w1")->id, 3);
  bench.run(10);
  CHECK(bench.state("net") == "running");
  // Numbers are never used twice; what is left of the first attempt is gone.
  CHECK(names_of(bench.engine) == "net-w2 net-w3");
  const std::string first = tasks_of(bench.engine).at("net-w2")->id;
  CHECK(variable(bench.engine, first, "RANK") == "0");
  CHECK(variable(bench.engine, first, "FLOWCON_ATTEMPT") == "2");
  CHECK(variable(bench.engine, first, "FLOWCON_RESUME").empty());
  bench.engine.end_with(first, 4);
  bench.run(10);
  CHECK(bench.state("net") == "failed");
  CHECK(bench.note("net") == "net-w2: ended with status 4");
  CHECK(member(bench.job("net"), "exit").to_number<int>() == 4);
  CHECK(running(bench.engine) == 0);
}

TEST_CASE(
    "a task that is killed for memory takes the others along, and all ask for twice as much") {
  QueueBench bench;
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "2"}});
  bench.run(5);
  // The other one fails since its partner is gone, and is heard of first.
  bench.engine.oom_.insert(tasks_of(bench.engine).at("net-w1")->id);
  bench.engine.end_with(tasks_of(bench.engine).at("net-w0")->id, 1);
  bench.engine.end(tasks_of(bench.engine).at("net-w1")->id, Copy::failed, 137);
  bench.run(10);
  CHECK(bench.state("net") == "running");
  CHECK(member(member(bench.job("net"), "request"), "mem").to_number<double>() == 4 * kGiB);
}

TEST_CASE("a parameter server that is killed for memory asks for twice as much") {
  QueueBench bench;
  bench.submit("net", "cpu=1,mem=2G",
               {{"flowcon.workers", "1"}, {"flowcon.ps", "1"}, {"flowcon.ps-request", "mem=1G"}});
  bench.run(5);
  CHECK(member(member(bench.job("net"), "request"), "mem").to_number<double>() == 3 * kGiB);
  bench.engine.kill_for_memory(tasks_of(bench.engine).at("net-s0")->id);
  bench.run(10);
  CHECK(bench.state("net") == "running");
  CHECK(member(member(bench.job("net"), "request"), "mem").to_number<double>() == 4 * kGiB);
}

TEST_CASE("a job of several containers is parked as a whole, and comes back") {
  QueueBench bench;
  bench.submit("net", "cpu=1,mem=1G",
               {{"flowcon.workers", "2"}, {"flowcon.checkpoint.signal", "SIGUSR1"}});
  bench.run(5);
  REQUIRE(running(bench.engine) == 2);
  bench.call("POST", "/v1/queue/net/park", "{}");
  bench.run(10);
  CHECK(bench.state("net") == "waiting");
  CHECK(tasks_of(bench.engine).empty());
  bench.call("POST", "/v1/queue/net/release", "{}");
  bench.run(5);
  CHECK(names_of(bench.engine) == "net-w2 net-w3");
  CHECK(running(bench.engine) == 2);
}

TEST_CASE("where one task does not save itself all run on") {
  QueueBench bench;
  bench.submit("net", "cpu=1,mem=1G",
               {{"flowcon.workers", "2"},
                {"flowcon.checkpoint.signal", "SIGUSR1"},
                {"flowcon.checkpoint.timeout", "5"}});
  bench.run(5);
  bench.engine.ignores_signals_ = true;
  bench.call("POST", "/v1/queue/net/park", "{}");
  bench.run(20);
  CHECK(bench.state("net") == "running");
  CHECK(running(bench.engine) == 2);
  CHECK(bench.note("net").find("could not be parked") != std::string::npos);
}

TEST_CASE("a cancelled job of several containers leaves none that runs") {
  QueueBench bench;
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "2"}});
  bench.run(5);
  bench.call("POST", "/v1/queue/net/cancel", "{}");
  bench.run(5);
  CHECK(bench.state("net") == "cancelled");
  CHECK(running(bench.engine) == 0);
}

TEST_CASE("who removes the ticket removes all of the job") {
  QueueBench bench;
  const std::string ticket = bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "2"}});
  bench.run(5);
  bench.engine.boxes_.erase(ticket);
  bench.engine.tell("destroy", ticket);
  bench.run(10);
  CHECK(bench.state("net") == "cancelled");
  CHECK(bench.engine.boxes_.empty());
}

TEST_CASE("who removes a task's container ends the job") {
  QueueBench bench;
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "2"}});
  bench.run(5);
  const std::string second = tasks_of(bench.engine).at("net-w1")->id;
  bench.engine.boxes_.erase(second);
  bench.engine.tell("destroy", second);
  bench.run(10);
  CHECK(bench.state("net") == "cancelled");
  CHECK(bench.note("net") == "net-w1: its container was removed");
  CHECK(running(bench.engine) == 0);
}

TEST_CASE("a task's name that another container has keeps the job from starting, and says so") {
  QueueBench bench;
  const std::string other = bench.engine.create("net-w1", {});
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "2"}});
  bench.run(10);
  // Its next attempt has other numbers.
  CHECK(bench.state("net") == "running");
  CHECK(names_of(bench.engine) == "net-w2 net-w3");
  CHECK(bench.engine.boxes_.contains(other));
}

TEST_CASE("a task is no job of its own for people") {
  QueueBench bench;
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "2"}});
  bench.run(5);
  const auto answer = bench.call("POST", "/v1/queue/net-w0/cancel", "{}");
  CHECK(answer.status == 409);
  CHECK(text_of(answer.body, "error") == "net-w0 is a task of job net: name that job");
  CHECK(list_of(bench.call("GET", "/v1/queue").body, "jobs").size() == 1);
}

TEST_CASE("a container that says it is some group's task is no job") {
  QueueBench bench;
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "2"}});
  bench.run(5);
  const std::string group = bench.job("net").at("id").as_string().c_str();
  const std::string forged =
      bench.engine.create("forged", {{"flowcon.queue", "true"}, {migration::kGroupLabel, group}});
  bench.run(10);
  CHECK_FALSE(bench.engine.runs(forged));
  bench.restart();
  bench.run(10);
  CHECK_FALSE(bench.engine.runs(forged));
  CHECK(running(bench.engine) == 2);
}

TEST_CASE("a task's container that is made after it was given up is removed, and no other one") {
  QueueBench bench;
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "2"}, {"flowcon.retries", "1"}});
  bench.run(5);
  bench.engine.end_with(tasks_of(bench.engine).at("net-w0")->id, 1);
  bench.run(10);
  const std::string group = bench.job("net").at("id").as_string().c_str();
  const Labels labels{{"flowcon.queue", "true"}, {migration::kGroupLabel, group}};
  const std::string late = bench.engine.create("net-w1", labels);
  const std::string other = bench.engine.create("from-its-image", labels);
  bench.run(5);
  CHECK_FALSE(bench.engine.boxes_.contains(late));
  CHECK(bench.engine.boxes_.contains(other));
  CHECK(running(bench.engine) == 2);
}

TEST_CASE("after a restart a job of several containers is what it was") {
  QueueBench bench;
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "2"}});
  bench.run(5);
  bench.restart();
  CHECK(bench.state("net") == "running");
  bench.engine.end_with(tasks_of(bench.engine).at("net-w0")->id, 0);
  bench.engine.end_with(tasks_of(bench.engine).at("net-w1")->id, 0);
  bench.run(5);
  CHECK(bench.state("net") == "done");
}

// ---------------------------------------------------------------------------- more and fewer

const Labels kJoin{{"flowcon.workers", "1:3"}, {"flowcon.elastic", "join"}};

TEST_CASE("a job starts with as many workers as there is room for, and waits for none of them") {
  QueueBench bench;
  bench.submit("first", "cpu=2,mem=1G");
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "1:3"}});
  bench.run(5);
  CHECK(names_of(bench.engine) == "net-w0 net-w1");
  CHECK(member(bench.job("net"), "workers").to_number<int>() == 2);
  CHECK(member(bench.job("net"), "most_workers").to_number<int>() == 3);
}

TEST_CASE("workers join where there is room, and leave for a job that has less left") {
  QueueBench bench;
  bench.expect_seconds("net", 4000);
  bench.expect_seconds("short", 60);
  const std::string first = bench.submit("first", "cpu=3,mem=1G");
  bench.run(3);
  bench.submit("net", "cpu=1,mem=1G", kJoin);
  bench.run(12);
  CHECK(running(bench.engine) == 1);
  bench.engine.end_with(first, 0);
  bench.run(15);
  CHECK(running(bench.engine) == 3);
  CHECK(bench.state("net") == "running");
  const std::string second = bench.submit("short", "cpu=3,mem=1G");
  bench.run(15);
  CHECK(bench.engine.runs(second));
  CHECK(running(bench.engine) == 1);
  CHECK(bench.engine.lives(tasks_of(bench.engine).at("net-w0")->id) == 1);
  bench.engine.end_with(second, 0);
  bench.run(15);
  CHECK(running(bench.engine) == 3);
}

TEST_CASE("workers are not given to a job that has more left") {
  QueueBench bench;
  bench.expect_seconds("net", 60);
  bench.expect_seconds("long", 4000);
  bench.submit("net", "cpu=1,mem=1G", kJoin);
  bench.run(15);
  REQUIRE(running(bench.engine) == 3);
  const std::string later = bench.submit("long", "cpu=3,mem=1G");
  bench.run(30);
  CHECK(running(bench.engine) == 3);
  CHECK_FALSE(bench.engine.runs(later));
}

TEST_CASE("a worker that fails is replaced while the others go on") {
  QueueBench bench;
  bench.submit("net", "cpu=1,mem=1G", kJoin);
  bench.run(15);
  REQUIRE(running(bench.engine) == 3);
  bench.engine.end_with(tasks_of(bench.engine).at("net-w1")->id, 1);
  bench.run(20);
  CHECK(bench.state("net") == "running");
  CHECK(running(bench.engine) == 3);
  CHECK(tasks_of(bench.engine).contains("net-w3"));
  CHECK(bench.engine.lives(tasks_of(bench.engine).at("net-w0")->id) == 1);
}

TEST_CASE("workers that have done their part are not replaced") {
  QueueBench bench;
  bench.submit("net", "cpu=1,mem=1G", kJoin);
  bench.run(15);
  REQUIRE(running(bench.engine) == 3);
  bench.engine.end_with(tasks_of(bench.engine).at("net-w1")->id, 0);
  bench.run(30);
  CHECK(running(bench.engine) == 2);
  bench.engine.end_with(tasks_of(bench.engine).at("net-w0")->id, 0);
  bench.engine.end_with(tasks_of(bench.engine).at("net-w2")->id, 0);
  bench.run(10);
  CHECK(bench.state("net") == "done");
}

TEST_CASE("people say how many workers a job has") {
  QueueBench bench;
  bench.submit("net", "cpu=1,mem=1G", kJoin);
  bench.run(15);
  REQUIRE(running(bench.engine) == 3);
  CHECK(bench.call("POST", "/v1/queue/net/set", R"({"workers":"2"})").status == 200);
  bench.run(15);
  CHECK(running(bench.engine) == 2);
  CHECK(bench.call("POST", "/v1/queue/net/set", R"({"workers":"4"})").status == 200);
  bench.run(15);
  CHECK(running(bench.engine) == 4);
  CHECK(bench.call("POST", "/v1/queue/net/set", R"({"workers":"none"})").status == 200);
  bench.run(15);
  CHECK(running(bench.engine) == 3);
  CHECK(bench.call("POST", "/v1/queue/net/set", R"({"workers":"0"})").status == 422);
  CHECK(bench.call("POST", "/v1/queue/net/set", R"({"workers":"2:3"})").status == 422);
}

TEST_CASE("a job that restarts for more workers does so where that is worth it") {
  QueueBench bench;
  const bool is_long = GENERATE(true, false);
  bench.expect_seconds("net", is_long ? 4000 : 5);
  const std::string first = bench.submit("first", "cpu=3,mem=1G");
  bench.run(3);
  bench.submit("net", "cpu=1,mem=1G",
               {{"flowcon.workers", "1:3"},
                {"flowcon.elastic", "restart"},
                {"flowcon.checkpoint.signal", "SIGUSR1"}});
  bench.run(60);
  REQUIRE(running(bench.engine) == 1);
  bench.engine.end_with(first, 0);
  bench.run(40);
  CHECK(bench.state("net") == "running");
  CHECK(running(bench.engine) == (is_long ? 3 : 1));
}

TEST_CASE("a job that is to restart and does not say how it saves itself is refused") {
  QueueBench bench;
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "1:3"}, {"flowcon.elastic", "restart"}});
  CHECK(bench.state("net") == "refused");
}

// --------------------------------------------------------------------------- whatever fails

TEST_CASE("workers that join while anything fails run once each") {
  at_each_wait([](KillBench& bench) {
    bench.submit(
        {{"flowcon.queue", "true"}, {"flowcon.workers", "1:2"}, {"flowcon.elastic", "join"}});
    bench.run(60);
    REQUIRE(running(bench.engine) == 2);
    bench.engine.end_with(tasks_of(bench.engine).begin()->second->id, 1);
    bench.run(80);
    REQUIRE(running(bench.engine) == 2);
    REQUIRE(bench.state() == "running");
    for (const auto& [name, box] : tasks_of(bench.engine)) REQUIRE(box->lives <= 1);
  });
}

TEST_CASE("a group that is started while anything fails runs as a whole, each task once") {
  at_each_wait([](KillBench& bench) {
    bench.submit({{"flowcon.queue", "true"}, {"flowcon.workers", "2"}});
    for (int turn = 0; turn < 100 && running(bench.engine) < 2; ++turn) bench.run(1);
    bench.run(50);
    REQUIRE(bench.state() == "running");
    REQUIRE(running(bench.engine) == 2);
    for (const auto& [name, box] : tasks_of(bench.engine)) {
      if (box->copy == Copy::running) bench.engine.end_with(box->id, 0);
    }
    bench.run(50);
    REQUIRE(bench.state() == "done");
    for (const auto& [name, box] : tasks_of(bench.engine)) REQUIRE(box->lives == 1);
  });
}

TEST_CASE("a group that is parked while anything fails comes back as a whole") {
  at_each_wait([](KillBench& bench) {
    bench.submit({{"flowcon.queue", "true"},
                  {"flowcon.workers", "2"},
                  {"flowcon.checkpoint.signal", "SIGTERM"}});
    bench.run(60);
    REQUIRE(running(bench.engine) == 2);
    bench.insist("park", [&] { return bench.state() == "waiting"; });
    REQUIRE(bench.state() == "waiting");
    REQUIRE(tasks_of(bench.engine).empty());
    bench.insist("release", [&] { return running(bench.engine) == 2; });
    REQUIRE(running(bench.engine) == 2);
    for (const auto& [name, box] : tasks_of(bench.engine)) REQUIRE(box->lives == 1);
  });
}

TEST_CASE("a group that is cancelled while anything fails leaves nothing that runs") {
  at_each_wait([](KillBench& bench) {
    bench.submit({{"flowcon.queue", "true"}, {"flowcon.workers", "2"}});
    bench.run(1);
    bench.insist("cancel", [&] { return bench.state() == "cancelled"; });
    bench.run(60);
    REQUIRE(bench.state() == "cancelled");
    REQUIRE(running(bench.engine) == 0);
  });
}

// ----------------------------------------------------------------------------- another host

TEST_CASE("a job of several containers runs on another host as a whole, and comes home") {
  ctrl::log::set_level(ctrl::log::Level::error);
  TwoQueues hosts;
  hosts.submit("net", 2, {{"flowcon.workers", "2"}});
  REQUIRE(hosts.comes_to("net", "running", 30));
  CHECK(hosts.h2.engine.networks_.empty());
  CHECK(text_of(hosts.job("net"), "host") == "h1");
  CHECK(names_of(hosts.h1.engine) == "net-w0 net-w1");
  CHECK(running(hosts.h1.engine) == 2);
  CHECK(running(hosts.h2.engine) == 0);
  std::vector<std::string> ids;
  for (const auto& [name, box] : tasks_of(hosts.h1.engine)) ids.push_back(box->id);
  for (const std::string& id : ids) hosts.h1.engine.end_with(id, 0);
  REQUIRE(hosts.comes_to("net", "done", 60));
  CHECK(hosts.h1.engine.boxes_.empty());
  CHECK(tasks_of(hosts.h2.engine).size() == 2);
  ctrl::log::set_level(ctrl::log::Level::info);
}

TEST_CASE("workers of another host leave for good, and are replaced where they fail") {
  ctrl::log::set_level(ctrl::log::Level::error);
  TwoQueues hosts;
  hosts.submit("net", 2, {{"flowcon.workers", "1:3"}, {"flowcon.elastic", "join"}});
  REQUIRE(hosts.until([&] { return running(hosts.h1.engine) == 3; }, 60));
  REQUIRE(hosts.comes_to("net", "running", 10));
  hosts.call("POST", "/v1/queue/net/set", R"({"workers":"1"})");
  REQUIRE(hosts.until([&] { return tasks_of(hosts.h1.engine).size() == 1; }, 60));
  hosts.run(30);
  CHECK(names_of(hosts.h1.engine) == "net-w0");
  hosts.call("POST", "/v1/queue/net/set", R"({"workers":"2"})");
  REQUIRE(hosts.until([&] { return running(hosts.h1.engine) == 2; }, 60));
  CHECK(names_of(hosts.h1.engine) == "net-w0 net-w3");
  hosts.h1.engine.end_with(tasks_of(hosts.h1.engine).at("net-w3")->id, 1);
  REQUIRE(hosts.until([&] { return names_of(hosts.h1.engine) == "net-w0 net-w4"; }, 60));
  CHECK(hosts.state("net") == "running");
  CHECK(hosts.h1.engine.lives(tasks_of(hosts.h1.engine).at("net-w0")->id) == 1);
  ctrl::log::set_level(ctrl::log::Level::info);
}

TEST_CASE("where a group's host has no room after all none of its tasks runs") {
  ctrl::log::set_level(ctrl::log::Level::error);
  TwoQueues hosts;
  hosts.h1.engine.conflicts_ = {"there is a container of that name"};
  hosts.submit("net", 2, {{"flowcon.workers", "2"}});
  hosts.run(30);
  CHECK(running(hosts.h1.engine) == 0);
  hosts.h1.engine.conflicts_.clear();
  REQUIRE(hosts.until(
      [&] { return hosts.job("net").at("held").as_bool() || hosts.state("net") == "running"; },
      200));
  if (hosts.job("net").at("held").as_bool()) hosts.call("POST", "/v1/queue/net/release");
  CHECK(hosts.comes_to("net", "running", 60));
  ctrl::log::set_level(ctrl::log::Level::info);
}

// One group from its submission to its end, while flowcond of one host is killed `after` so many
// seconds and starts again two seconds later.
std::string struck(int how, double after) {
  TwoQueues hosts;
  hosts.submit("net", 2, {{"flowcon.workers", "2"}});
  TwoQueues::Side& victim = how == 0 ? hosts.h2 : hosts.h1;
  const double strike = hosts.clock.steady() + after;
  bool has_struck = false;
  double back = 0;
  int ran = 0;
  for (int turn = 0; turn < 2500; ++turn) {
    if (!has_struck && hosts.clock.steady() >= strike) {
      has_struck = true;
      back = hosts.clock.steady() + 2;
      how == 2 ? void(hosts.is_cut = true) : hosts.kill(victim);
    }
    if (back > 0 && hosts.clock.steady() >= back) {
      back = 0;
      hosts.is_cut = false;
      if (!victim.is_up) hosts.start(victim);
    }
    for (const auto& [name, box] : tasks_of(hosts.h1.engine)) {
      if (box->lives > 1) return name + " was started twice";
    }
    if (running(hosts.h2.engine) > 0) return "a task runs at home too";
    const bool has_all = running(hosts.h1.engine) == 2;
    if (has_all && ++ran > 30) {
      std::vector<std::string> ids;
      for (const auto& [name, box] : tasks_of(hosts.h1.engine)) {
        if (box->copy == Copy::running) ids.push_back(box->id);
      }
      for (const std::string& id : ids) hosts.h1.engine.end_with(id, 0);
    }
    hosts.run(0.1);
    if (hosts.h2.is_up && has_struck && back == 0 && hosts.state("net") == "done") break;
  }
  if (hosts.state("net") != "done") return "it is " + hosts.state("net");
  hosts.run(15);
  return hosts.h1.engine.boxes_.empty() ? "" : "a task is left";
}

TEST_CASE("owner or host is killed, or unheard, at any moment: a group runs as a whole, once") {
  ctrl::log::set_level(ctrl::log::Level::error);
  const int how = GENERATE(0, 1, 2);
  for (double after = 0; after < 12; after += 0.4) {
    INFO((how == 0 ? "owner" : how == 1 ? "host" : "network") << " after " << after << " s");
    REQUIRE(struck(how, after) == "");
  }
  ctrl::log::set_level(ctrl::log::Level::info);
}

}  // namespace
}  // namespace flowcon::cluster::test
