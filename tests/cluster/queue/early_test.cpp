// SPDX-License-Identifier: Apache-2.0
// A job whose image and data go to its next host before there is room, and one that begins before
// its cores are free, through the real queues and migrators of two hosts.
#include <chrono>
#include <thread>

#include "base/file.h"
#include "tests/cluster/queue/two_queues.h"

namespace flowcon::cluster::test {
namespace {

class Hosts : public TwoQueues {
 public:
  const Quiet quiet;

  /// Its copy on h1; null: there is none.
  const Box* copy(const std::string& name) const {
    for (const auto& [id, box] : h1.engine.boxes_) {
      if (box.name == name) return &box;
    }
    return nullptr;
  }
  bool runs(const std::string& name) const {
    return copy(name) != nullptr && copy(name)->copy == Copy::running;
  }
  /// One job fills h1 and has `left` seconds left; another waits for its room.
  void fill(double left) {
    submit("first", 6);
    REQUIRE(until([&] { return runs("first"); }, 30));
    h1.host.lefts_[copy("first")->id] = left;
    submit("second", 6);
  }
  bool is_sent() {
    const bool is_there = until([&] { return copy("second") != nullptr; }, 60);
    if (!is_there) FAIL(render_json(job("second")) + render_json(job("first")));
    return is_there;
  }
  void end_first() { h1.engine.end_with(copy("first")->id, 0); }
};

TEST_CASE("a job goes ahead to the host that it gets next, and starts there without its way") {
  Hosts hosts;
  hosts.fill(8);
  REQUIRE(hosts.is_sent());
  hosts.run(30);
  CHECK(hosts.copy("second")->lives == 0);
  CHECK(hosts.state("second") == "waiting");
  CHECK(text_of(hosts.job("second"), "host") == "h1");
  hosts.end_first();
  REQUIRE(hosts.until([&] { return hosts.runs("second"); }, 3));
  REQUIRE(hosts.comes_to("second", "running", 5));
  CHECK(hosts.comes_to("first", "done", 30));
  hosts.h1.engine.end_with(hosts.copy("second")->id, 0);
  const bool is_done = hosts.comes_to("second", "done", 30);
  INFO(render_json(hosts.job("second")));
  CHECK(is_done);
  CHECK(hosts.h1.engine.boxes_.empty());
}

TEST_CASE("a job far from its turn is not sent ahead") {
  Hosts hosts;
  hosts.fill(3000);
  CHECK(hosts.until(
      [&] {
        return text_of(hosts.job("second"), "note").starts_with("next on h1 in about 50 min");
      },
      30));
  hosts.run(60);
  CHECK(hosts.copy("second") == nullptr);
}

TEST_CASE("a job that was sent ahead holds no room") {
  Hosts hosts;
  hosts.fill(8);
  REQUIRE(hosts.is_sent());
  hosts.submit("small", 2);
  CHECK(hosts.comes_to("small", "running", 30));
  CHECK(hosts.state("second") == "waiting");
}

TEST_CASE("a job that was sent ahead and is held, cancelled or removed leaves nothing there") {
  const std::string how = GENERATE("hold", "cancel", "rm");
  Hosts hosts;
  hosts.fill(8);
  REQUIRE(hosts.is_sent());
  hosts.run(5);
  if (how == "rm") {
    const std::string id = text_of(hosts.job("second"), "id");
    hosts.h2.engine.boxes_.erase(id);
    hosts.h2.engine.tell("destroy", id);
  } else {
    hosts.call("POST", "/v1/queue/second/" + how);
  }
  CHECK(hosts.until([&] { return hosts.copy("second") == nullptr; }, 30));
  CHECK(hosts.comes_to("second", how == "hold" ? "waiting" : "cancelled", 10));
  hosts.end_first();
  hosts.run(30);
  CHECK(hosts.copy("second") == nullptr);
}

TEST_CASE("a job that was sent ahead starts where there is room first") {
  Hosts hosts;
  hosts.fill(8);
  REQUIRE(hosts.is_sent());
  hosts.run(5);
  TwoQueues::offer(hosts.h2, 4, 8);
  CHECK(hosts.until([&] { return hosts.h2.engine.runs(text_of(hosts.job("second"), "id")); }, 60));
  CHECK(hosts.copy("second") == nullptr);
  CHECK(hosts.state("second") == "running");
}

TEST_CASE("a host that has no room after all keeps what was sent, and starts it later") {
  Hosts hosts;
  hosts.fill(8);
  REQUIRE(hosts.is_sent());
  hosts.run(5);
  hosts.h1.host.view_.available = 0.1 * kGiB;
  hosts.end_first();
  hosts.run(10);
  CHECK_FALSE(hosts.runs("second"));
  hosts.h1.host.view_.available = 8 * kGiB;
  CHECK(hosts.until([&] { return hosts.runs("second"); }, 90));
}

Async<void> asked(queue::Queue* queue, ctrl::api::Request request, std::string speaker,
                  std::shared_ptr<int> status) {
  const ctrl::api::Routes verbs = queue->peer_routes();
  const ctrl::api::Response response =
      co_await ctrl::api::answer_peer(&verbs, std::move(request), std::move(speaker));
  *status = static_cast<int>(response.status);
}

// Each has all cores of h1, which has memory for both.
class OneCore : public Hosts {
 public:
  OneCore() {
    TwoQueues::offer(h1, 1, 8);
    submit("first", 2);
    REQUIRE(until([&] { return runs("first"); }, 30));
    h1.host.lefts_[copy("first")->id] = 8;
    submit("second", 2);
    REQUIRE(is_sent());
    run(5);
  }
  bool is_early(const std::string& name) { return h1.queues.back()->is_early(copy(name)->id); }
};

TEST_CASE(
    "a job begins beside the one whose cores it gets, and has what that leaves until it ends") {
  OneCore hosts;
  CHECK_FALSE(hosts.runs("second"));
  hosts.h1.host.lefts_[hosts.copy("first")->id] = 1;
  REQUIRE(hosts.until([&] { return hosts.runs("second"); }, 20));
  CHECK(hosts.runs("first"));
  CHECK(hosts.is_early("second"));
  CHECK_FALSE(hosts.is_early("first"));
  // One at a time.
  hosts.submit("third", 2);
  hosts.run(30);
  CHECK(hosts.state("third") == "waiting");
  hosts.end_first();
  hosts.run(3);
  CHECK_FALSE(hosts.is_early("second"));
  CHECK(hosts.comes_to("first", "done", 30));
  hosts.h1.engine.end_with(hosts.copy("second")->id, 0);
  CHECK(hosts.comes_to("second", "done", 30));
  CHECK(hosts.until([&] { return hosts.runs("third"); }, 60));
}

TEST_CASE("a host takes no second one early, and none that it could not hold, whoever asks") {
  OneCore hosts;
  const auto claim = [&](const std::string& birth) {
    queue::TaskCall call;
    call.verb = queue::TaskVerb::claim;
    call.birth = birth;
    call.is_early = true;
    ctrl::api::Request request;
    request.method = "POST";
    request.target = "/v1/peer/queue/task";
    request.body = render(call);
    const auto status = std::make_shared<int>(0);
    ctrl::spawn(
        hosts.io, "claim",
        asked(hosts.h1.queues.back().get(), std::move(request), hosts.h2.network.own_id_, status));
    hosts.poll();
    return *status;
  };
  const std::string second = hosts.copy("second")->labels.at(ctrl::kMovedLabel);
  TwoQueues::offer(hosts.h1, 0.5, 8);
  CHECK(claim(second) == 409);
  TwoQueues::offer(hosts.h1, 1, 8);
  hosts.h1.host.lefts_[hosts.copy("first")->id] = 1;
  REQUIRE(hosts.until([&] { return hosts.runs("second"); }, 20));
  hosts.h1.host.lefts_[hosts.copy("second")->id] = 8;
  hosts.submit("third", 2);
  REQUIRE(hosts.until([&] { return hosts.copy("third") != nullptr; }, 60));
  hosts.run(5);
  CHECK(claim(hosts.copy("third")->labels.at(ctrl::kMovedLabel)) == 409);
}

// It is written beside the loop.
bool is_kept(const QueueHost& host) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!file_text(host.config_.state_dir + "/early").ends_with("\n")) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST_CASE("a task that has begun early is held back by the next flowcond, too") {
  OneCore hosts;
  hosts.h1.host.lefts_[hosts.copy("first")->id] = 1;
  REQUIRE(hosts.until([&] { return hosts.runs("second"); }, 20));
  REQUIRE(is_kept(hosts.h1.host));
  hosts.kill(hosts.h1);
  hosts.run(2);
  hosts.start(hosts.h1);
  CHECK(hosts.is_early("second"));
  CHECK_FALSE(hosts.is_early("first"));
  hosts.run(40);
  CHECK(hosts.is_early("second"));
  hosts.end_first();
  hosts.run(3);
  CHECK_FALSE(hosts.is_early("second"));
  CHECK(hosts.comes_to("first", "done", 30));
}

TEST_CASE("a job that has begun early is held back by the next flowcond for the rest of its time") {
  QueueBench bench;
  const std::string first = bench.submit("first", "cpu=4,mem=4G");
  bench.host.lefts_[first] = 4;
  const std::string second = bench.submit("second", "cpu=4,mem=3G");
  bench.run(11);
  REQUIRE(bench.queue->is_early(second));
  REQUIRE(is_kept(bench.host));
  bench.restart();
  CHECK(bench.queue->is_early(second));
  bench.run(60);
  bench.restart();
  CHECK(bench.queue->is_early(second));
  SECTION("weights are not what it is held back by any more") {
    bench.host.config_.limiting.mode = cgroups::LimitMode::quota;
    CHECK_FALSE(bench.queue->is_early(second));
  }
  SECTION("two minutes are over") {
    bench.run(60);
    CHECK_FALSE(bench.queue->is_early(second));
    bench.restart();
    CHECK_FALSE(bench.queue->is_early(second));
  }
  SECTION("the other one has ended meanwhile") {
    bench.engine.end_with(first, 0);
    bench.run(20);
    CHECK_FALSE(bench.queue->is_early(second));
  }
}

TEST_CASE("a job that has begun early is held back for two minutes at most") {
  OneCore hosts;
  hosts.h1.host.lefts_[hosts.copy("first")->id] = 1;
  REQUIRE(hosts.until([&] { return hosts.runs("second"); }, 20));
  hosts.run(100);
  CHECK(hosts.is_early("second"));
  hosts.run(25);
  CHECK_FALSE(hosts.is_early("second"));
  CHECK(hosts.runs("first"));
}

TEST_CASE("no job begins early where nothing is limited, by quotas alone, or with a GPU") {
  const std::string why = GENERATE("quota", "free", "dry run", "paused", "gpu");
  QueueBench bench;
  if (why == "quota") bench.host.config_.limiting.mode = cgroups::LimitMode::quota;
  if (why == "free") bench.host.config_.policy = "free";
  bench.host.config_.dry_run = why == "dry run";
  bench.host.view_.is_paused = why == "paused";
  const std::string first = bench.submit("first", "cpu=4,mem=4G");
  bench.host.lefts_[first] = 4;
  boost::json::object host_config;
  if (why == "gpu") host_config["DeviceRequests"] = boost::json::array{{{"Count", -1}}};
  const std::string second = bench.engine.create(
      "second", {{"flowcon.queue", "true"}, {"flowcon.request", "cpu=4,mem=3G"}}, host_config);
  bench.run(15);
  CHECK(bench.state("second") == "waiting");
}

TEST_CASE("a job begins beside one that is nearly at its end, where there is memory for both") {
  QueueBench bench;
  const std::string first = bench.submit("first", "cpu=4,mem=4G");
  bench.estimates["python3 second.py"] = {
      {"seconds_launch", 4.0, 6.0, ctrl::estimate::EstimateBasis::repeat, 5}};
  bench.host.lefts_[first] = 4 * 20;  // CPU seconds
  const std::string second = bench.submit("second", "cpu=4,mem=3G");
  bench.run(15);
  CHECK_FALSE(bench.engine.runs(second));
  bench.host.lefts_[first] = 4 * 5;
  bench.run(11);
  CHECK(bench.engine.runs(second));
  CHECK(bench.engine.runs(first));
  CHECK(bench.queue->is_early(second));
  bench.host.lefts_[second] = 4;
  const std::string third = bench.submit("third", "cpu=1,mem=512M");
  bench.run(11);
  CHECK_FALSE(bench.engine.runs(third));
  bench.engine.end_with(first, 0);
  bench.run(2);
  CHECK_FALSE(bench.queue->is_early(second));
  // The next one that begins early is the only one that is held back.
  bench.host.lefts_[second] = 4;
  bench.run(11);
  CHECK(bench.engine.runs(third));
  CHECK(bench.queue->is_early(third));
  CHECK_FALSE(bench.queue->is_early(second));
}

TEST_CASE("without memory for both a job waits for the end of the other, and begins at once then") {
  QueueBench bench;
  const std::string first = bench.submit("first", "cpu=4,mem=5G");
  bench.host.lefts_[first] = 1;
  const std::string second = bench.submit("second", "cpu=4,mem=4G");
  bench.run(15);
  CHECK_FALSE(bench.engine.runs(second));
  bench.engine.end_with(first, 0);
  bench.run(1.5);
  CHECK(bench.engine.runs(second));
  CHECK_FALSE(bench.queue->is_early(second));
}

// The host or the owner dies `after` so many seconds from when the second job is submitted.
std::string killed(bool is_owner, double after) {
  Hosts hosts;
  hosts.fill(8);
  TwoQueues::Side& victim = is_owner ? hosts.h2 : hosts.h1;
  hosts.run(after);
  hosts.kill(victim);
  hosts.run(2);
  hosts.start(victim);
  hosts.run(4);
  if (hosts.runs("second")) return "it runs beside the first one";
  if (!hosts.runs("first")) return "the first one does not run";
  hosts.end_first();
  if (!hosts.until([&] { return hosts.runs("second"); }, 120)) return "it does not start";
  if (hosts.copy("second")->lives != 1) return "it is started twice";
  hosts.h1.engine.end_with(hosts.copy("second")->id, 0);
  if (!hosts.comes_to("second", "done", 60)) return "it is " + hosts.state("second");
  hosts.run(15);
  return hosts.h1.engine.boxes_.empty() ? "" : "something is left";
}

TEST_CASE("owner or host is killed while a job goes ahead: it starts once, when there is room") {
  const bool is_owner = GENERATE(true, false);
  for (double after = 0; after < 16; after += 0.8) {
    INFO((is_owner ? "owner" : "host") << " after " << after << " s");
    REQUIRE(killed(is_owner, after) == "");
  }
}

}  // namespace
}  // namespace flowcon::cluster::test
