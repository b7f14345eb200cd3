// SPDX-License-Identifier: Apache-2.0
// Jobs whose numbers of workers are allocated, through the real queues and migrators.
#include "ctrl/exposition.h"
#include "ctrl/log.h"
#include "tests/cluster/queue/group_tasks.h"
#include "tests/cluster/queue/two_queues.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::test {
namespace {

const Labels kJoin{{"flowcon.workers", "1:4"}, {"flowcon.elastic", "join"}};
const Labels kRestart{{"flowcon.workers", "1:4"},
                      {"flowcon.elastic", "restart"},
                      {"flowcon.checkpoint.signal", "SIGUSR1"}};

class ElasticBench : public QueueBench {
 public:
  explicit ElasticBench(const std::string& policy = "horizon") {
    host.config_.queue.allocate = policy;
  }
  std::size_t workers(const std::string& job) {
    const auto tasks = tasks_of(engine);
    return static_cast<std::size_t>(std::count_if(tasks.begin(), tasks.end(), [&](const auto& one) {
      return one.first.starts_with(job + "-w") && one.second->copy == Copy::running;
    }));
  }
  std::uint64_t resizes() {
    ctrl::Exposition out;
    queue->add_metrics(out);
    const std::string text = out.text(), name = "\nflowcon_job_resizes_total ";
    const std::size_t at = text.find(name);
    REQUIRE(at != std::string::npos);
    return std::stoull(text.substr(at + name.size()));
  }
  // Its counter goes on by so much each second.
  void go_on(const std::string& job, double rate, int seconds) {
    const std::string id = tasks_of(engine).at(job + "-w0")->id;
    for (int i = 0; i < seconds; ++i) {
      host.dones_[id] += rate;
      host.lefts_[id] = (1 - host.dones_[id]) / rate;
      run(1);
    }
  }
};

TEST_CASE("workers are given to a job that comes, and taken back when it has ended") {
  ElasticBench bench(GENERATE("horizon", "greedy"));
  bench.expect_seconds("net", 4000);
  bench.expect_seconds("other", 4000);
  bench.submit("net", "cpu=1,mem=1G", kJoin);
  bench.run(30);
  REQUIRE(bench.workers("net") == 4);
  bench.submit("other", "cpu=1,mem=1G", kJoin);
  bench.run(60);
  CHECK(bench.workers("net") == 2);
  CHECK(bench.workers("other") == 2);
  CHECK(bench.engine.lives(tasks_of(bench.engine).at("net-w0")->id) == 1);
  for (const char* name : {"other-w0", "other-w1"}) {
    if (tasks_of(bench.engine).contains(name)) {
      bench.engine.end_with(tasks_of(bench.engine).at(name)->id, 0);
    }
  }
  bench.run(60);
  CHECK(bench.state("other") == "done");
  CHECK(bench.workers("net") == 4);
}

TEST_CASE("a number that a person sets is one resize, and a lost worker is none") {
  ElasticBench bench;
  bench.expect_seconds("net", 4000);
  bench.submit("net", "cpu=1,mem=1G", kJoin);
  bench.run(30);
  REQUIRE(bench.workers("net") == 4);
  const std::uint64_t before = bench.resizes();
  bench.call("POST", "/v1/queue/net/set", R"({"workers":"2"})");
  bench.run(60);
  REQUIRE(bench.workers("net") == 2);
  CHECK(bench.resizes() == before + 1);
  bench.engine.end_with(tasks_of(bench.engine).at("net-w1")->id, 1);
  bench.run(7);
  REQUIRE(bench.workers("net") == 1);
  CHECK(bench.resizes() == before + 1);
}

TEST_CASE("who loses a worker keeps the others until the next one may come") {
  ElasticBench bench(GENERATE("horizon", "greedy"));
  bench.expect_seconds("net", 4000);
  bench.submit("net", "cpu=1,mem=1G", kJoin);
  bench.run(30);
  REQUIRE(bench.workers("net") == 4);
  bench.engine.end_with(tasks_of(bench.engine).at("net-w1")->id, 1);
  bench.run(7);
  CHECK(bench.workers("net") == 3);
  bench.run(30);
  CHECK(bench.workers("net") == 4);
  for (const char* name : {"net-w2", "net-w3"}) {
    REQUIRE(tasks_of(bench.engine).contains(name));
    CHECK(tasks_of(bench.engine).at(name)->copy == Copy::running);
  }
}

TEST_CASE("who waits has its room without anybody being parked, and keeps it") {
  ElasticBench bench;
  bench.expect_seconds("net", 4000);
  bench.expect_seconds("short", 60);
  Labels labels = kJoin;
  labels["flowcon.checkpoint.signal"] = "SIGUSR1";
  bench.submit("net", "cpu=1,mem=1G", labels);
  bench.run(60);
  REQUIRE(bench.workers("net") == 4);
  const std::string second = bench.submit("short", "cpu=2,mem=1G");
  bench.run(60);
  CHECK(bench.engine.runs(second));
  CHECK(bench.workers("net") == 2);
  CHECK(bench.engine.lives(tasks_of(bench.engine).at("net-w0")->id) == 1);
  CHECK(bench.state("net") == "running");
}

TEST_CASE("a job that is no faster with more workers has no more of them") {
  ElasticBench bench;
  bench.expect_seconds("net", 4000);
  bench.host.config_.queue.allocate_interval = 60;
  bench.submit("net", "cpu=1,mem=1G", kJoin);
  bench.run(20);
  REQUIRE(bench.workers("net") == 4);
  bench.go_on("net", 0.0001, 40);
  bench.call("POST", "/v1/queue/net/set", R"({"workers":"1"})");
  bench.go_on("net", 0.0001, 40);
  REQUIRE(bench.workers("net") == 1);
  bench.call("POST", "/v1/queue/net/set", R"({"workers":"none"})");
  bench.expect_seconds("other", 4000);
  bench.submit("other", "cpu=1,mem=1G", kJoin);
  bench.go_on("net", 0.0001, 120);
  CHECK(bench.workers("net") == 1);
  CHECK(bench.workers("other") == 2);  // 4 would be too many
  const boost::json::value decision = member(bench.job("net"), "decision");
  CHECK(text_of(decision, "algorithm") == "allocate");
  CHECK(text_of(decision, "sentence").find("node hours left") != std::string::npos);
}

TEST_CASE("a job that restarts becomes more and fewer from its checkpoint") {
  ElasticBench bench;
  bench.expect_seconds("net", 40000);
  bench.expect_seconds("other", 40000);
  const std::string first = bench.submit("first", "cpu=3,mem=1G");
  bench.run(3);
  bench.submit("net", "cpu=1,mem=1G", kRestart);
  bench.run(60);
  REQUIRE(bench.workers("net") == 1);
  CHECK(bench.resizes() == 0);
  bench.engine.end_with(first, 0);
  bench.run(90);
  REQUIRE(bench.workers("net") == 4);
  CHECK(bench.resizes() == 1);
  bench.run(60);
  bench.submit("other", "cpu=2,mem=1G");
  bench.run(90);
  CHECK(bench.workers("net") == 2);
  CHECK(bench.state("other") == "running");
  CHECK(bench.state("net") == "running");
}

TEST_CASE("a job runs on as it is while there is no room for all workers that a person wants") {
  ElasticBench bench;
  bench.expect_seconds("net", 40000);
  const std::string first = bench.submit("first", "cpu=1,mem=1G");
  bench.run(3);
  bench.submit("net", "cpu=1,mem=1G", GENERATE(kRestart, kJoin));
  bench.run(60);
  const std::size_t before = bench.workers("net");
  REQUIRE(before < 4);
  bench.call("POST", "/v1/queue/net/set", R"({"workers":"4"})");
  bench.run(90);
  CHECK(bench.state("net") == "running");
  CHECK(bench.workers("net") >= before);
  bench.engine.end_with(first, 0);
  bench.run(200);
  CHECK(bench.workers("net") == 4);
}

TEST_CASE("a job that starts again for more workers has the room that it left") {
  ElasticBench bench;
  for (const char* name : {"again", "joins"}) bench.expect_seconds(name, 40000);
  const std::string first = bench.submit("first", "cpu=2,mem=1G");
  bench.run(3);
  Labels restart = kRestart;
  restart["flowcon.workers"] = "1:8";
  bench.submit("again", "cpu=0.5,mem=512M", restart);
  Labels join = kJoin;
  join["flowcon.workers"] = "1:8";
  bench.submit("joins", "cpu=0.5,mem=512M", join);
  bench.run(90);
  bench.engine.end_with(first, 0);
  bench.run(900);
  CHECK(bench.workers("again") + bench.workers("joins") >= 6);
  CHECK(bench.job("again").at("attempt").to_number<int>() <= 4);
}

TEST_CASE("without events it is decided at its interval alone") {
  ElasticBench bench;
  bench.host.config_.queue.allocate_events = false;
  bench.host.config_.queue.allocate_interval = 100;
  bench.expect_seconds("net", 4000);
  bench.expect_seconds("other", 4000);
  bench.submit("net", "cpu=1,mem=1G", kJoin);
  bench.run(120);
  REQUIRE(bench.workers("net") == 4);
  bench.submit("other", "cpu=1,mem=1G", kJoin);
  bench.run(5);
  CHECK(bench.workers("net") == 4);
  bench.run(120);
  CHECK(bench.workers("net") == 2);
}

TEST_CASE("nobody comes and goes for nothing") {
  ElasticBench bench;
  for (const char* name : {"a", "b", "c"}) {
    bench.expect_seconds(name, 40000);
    bench.submit(name, "cpu=1,mem=1G", kJoin);
    bench.run(20);
  }
  bench.run(30);
  const std::string before = names_of(bench.engine);
  bench.run(900);
  CHECK(names_of(bench.engine) == before);
}

TEST_CASE("workers come and go for ever, and of those that have left the last are kept") {
  QueueBench bench;
  const std::string id = bench.submit("net", "cpu=1,mem=1G", kJoin);
  const auto runs = [&](int number) {
    const auto tasks = tasks_of(bench.engine);
    const auto found = tasks.find("net-w" + std::to_string(number));
    return found != tasks.end() && found->second->copy == Copy::running;
  };
  const auto scale = [&](const std::string& workers, int number, bool is_to_run) {
    bench.call("POST", "/v1/queue/net/set", R"({"workers":")" + workers + R"("})");
    for (int turn = 0; turn < 60 && runs(number) != is_to_run; ++turn) bench.run(0.5);
    REQUIRE(runs(number) == is_to_run);
  };
  bench.call("POST", "/v1/queue/net/set", R"({"workers":"1"})");
  bench.run(15);
  REQUIRE(runs(0));
  const auto next = [&] {
    return static_cast<int>(queue::parse_entry(bench.rows.rows_.at(id).entry)->group->next_worker);
  };
  const int first = next();
  for (int number = first; number < first + 40; ++number) {
    scale("2", number, true);
    if (number == first + 10) {
      const std::string again = "net-w" + std::to_string(first + 1);  // by a person
      bench.engine.boxes_.at(tasks_of(bench.engine).at(again)->id).copy = Copy::running;
    }
    scale("1", number, false);
  }
  bench.run(10);
  const auto tasks = tasks_of(bench.engine);
  CHECK_FALSE(tasks.contains("net-w" + std::to_string(first)));
  CHECK(tasks.contains("net-w" + std::to_string(first + 39)));
  CHECK(tasks.size() == 34);
  CHECK(runs(0));
  CHECK(runs(first + 1));
}

class ElasticQueues : public TwoQueues {
 public:
  ElasticQueues() {
    ctrl::log::set_level(ctrl::log::Level::error);
    offer(h2, 4, 8);
    for (Side* side : {&h1, &h2}) {
      side->engine.swarm_ = {"manager"};
      side->host.config_.queue.group_network = "train";
      side->host.config_.queue.allocate = "horizon";
    }
    run(35);
  }
  ~ElasticQueues() { ctrl::log::set_level(ctrl::log::Level::info); }
  ElasticQueues(const ElasticQueues&) = delete;
  ElasticQueues& operator=(const ElasticQueues&) = delete;
};

TEST_CASE("workers are allocated over both hosts, and leave the one where another job waits") {
  ElasticQueues hosts;
  hosts.submit("net", 1, {{"flowcon.workers", "1:8"}, {"flowcon.elastic", "join"}});
  REQUIRE(
      hosts.until([&] { return running(hosts.h1.engine) + running(hosts.h2.engine) == 8; }, 120));
  hosts.run(20);
  hosts.submit("big", 3, {});
  REQUIRE(hosts.comes_to("big", "running", 120));
  hosts.run(60);
  CHECK(running(hosts.h1.engine) + running(hosts.h2.engine) == 4);
  CHECK(hosts.state("net") == "running");
}

TEST_CASE("a job that is still being placed keeps its room, and is resized once it runs") {
  ElasticQueues hosts;
  hosts.run(120);
  hosts.image_seconds = 30;
  hosts.submit("net", 1, {{"flowcon.workers", "1:8"}, {"flowcon.elastic", "join"}});
  REQUIRE(hosts.comes_to("net", "placing", 30));
  hosts.call("POST", "/v1/queue/net/set", R"({"workers":"1"})");
  hosts.h1.engine.create("other", {{"flowcon.queue", "true"}, {"flowcon.request", "cpu=1,mem=1G"}});
  REQUIRE(hosts.comes_to("net", "running", 200));
  CHECK(tasks_of(hosts.h2.engine).contains("net-w0"));
  CHECK(hosts.until([&] { return running(hosts.h1.engine) + running(hosts.h2.engine) == 1; }, 120));
}

}  // namespace
}  // namespace flowcon::cluster::test
