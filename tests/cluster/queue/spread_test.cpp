// SPDX-License-Identifier: Apache-2.0
// Jobs of several containers on several hosts at a time, through the real queues and movers: h1 and
// h2 have four cores each and are in one Docker Swarm.
#include <set>

#include "ctrl/log.h"
#include "tests/cluster/queue/group_tasks.h"
#include "tests/cluster/queue/two_queues.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::test {
namespace {

class SpreadQueues : public TwoQueues {
 public:
  SpreadQueues() {
    ctrl::log::set_level(ctrl::log::Level::error);
    offer(h2, 4, 8);
    for (Side* side : {&h1, &h2}) {
      side->engine.swarm_ = {"manager"};
      side->host.config_.queue.group_network = "train";
    }
    run(35);
  }
  ~SpreadQueues() { ctrl::log::set_level(ctrl::log::Level::info); }
  SpreadQueues(const SpreadQueues&) = delete;
  SpreadQueues& operator=(const SpreadQueues&) = delete;

  [[nodiscard]] std::size_t both() const { return running(h1.engine) + running(h2.engine); }
  std::string note(const std::string& name) { return text_of(job(name), "note"); }
  void end_all(std::int64_t status = 0) {
    for (Side* side : {&h1, &h2}) {
      std::vector<std::string> ids;
      for (const auto& [name, box] : tasks_of(side->engine)) {
        if (box->copy == Copy::running) ids.push_back(box->id);
      }
      for (const std::string& id : ids) side->engine.end_with(id, status);
    }
  }
};

std::string network_of(const QueueEngine& engine, const std::string& name) {
  const std::string id = tasks_of(engine).at(name)->id;
  return text_of(member(boost::json::value(engine.inspects_.at(id)), "HostConfig"), "NetworkMode");
}

TEST_CASE("a job that no host holds as a whole is on two, and comes home") {
  SpreadQueues hosts;
  hosts.submit("net", 1, {{"flowcon.workers", "6"}});
  REQUIRE(hosts.comes_to("net", "running", 60));
  CHECK(running(hosts.h1.engine) == 4);
  CHECK(running(hosts.h2.engine) == 2);
  CHECK(text_of(hosts.job("net"), "host") == "h1 h2");
  CHECK(network_of(hosts.h2.engine, "net-w5") == "train");
  CHECK(hosts.h2.engine.networks_.empty());
  hosts.run(20);
  hosts.end_all();
  REQUIRE(hosts.comes_to("net", "done", 60));
  CHECK(hosts.h1.engine.boxes_.empty());
  CHECK(tasks_of(hosts.h2.engine).size() == 6);
}

TEST_CASE("tasks of one image need it brought once") {
  SpreadQueues hosts;
  hosts.image_seconds = GENERATE(0.0, 2.0);
  hosts.submit("net", 1, {{"flowcon.workers", "6"}});
  REQUIRE(hosts.comes_to("net", "running", 60));
  CHECK(hosts.h2.goods.image_sends_ == 1);
  CHECK(hosts.job("net").at("attempt") == 1);
  CHECK(tasks_of(hosts.h2.engine).contains("net-w5"));
}

TEST_CASE("a job whose hosts have no network in common waits for one host, or is refused") {
  SpreadQueues hosts;
  SECTION("none is named") {
    hosts.h2.host.config_.queue.group_network = ctrl::kNoNetwork;
    hosts.submit("net", 1, {{"flowcon.workers", "6"}});
    hosts.run(5);
    CHECK(hosts.state("net") == "refused");
  }
  SECTION("the other host is in another swarm") {
    hosts.h1.engine.swarm_ = {"other"};
    hosts.run(35);
    hosts.submit("net", 1, {{"flowcon.workers", "6"}});
    hosts.run(20);
    CHECK(hosts.state("net") == "waiting");
    CHECK(hosts.note("net").find("no reachable host could hold it") == 0);
  }
  SECTION("nor does it keep others from the room of that one") {
    hosts.h1.engine.swarm_ = {"other"};
    hosts.run(35);
    hosts.submit("net", 1, {{"flowcon.workers", "6"}});
    hosts.run(5);
    hosts.submit("small", 1);
    REQUIRE(hosts.comes_to("small", "running", 20));
    CHECK(hosts.state("net") == "waiting");
  }
  SECTION("not even all together have as much") {
    hosts.submit("net", 1, {{"flowcon.workers", "9"}});
    hosts.run(5);
    CHECK(hosts.state("net") == "refused");
    CHECK(hosts.note("net").find("all hosts together") != std::string::npos);
  }
  SECTION("it is in a network of one host") {
    const std::string id = hosts.h2.engine.create(
        "net",
        {{"flowcon.queue", "true"}, {"flowcon.workers", "6"}, {"flowcon.request", "cpu=1,mem=1G"}},
        {{"NetworkMode", "mine"}});
    hosts.run(5);
    CHECK(hosts.state("net") == "refused");
  }
  CHECK(hosts.both() == 0);
}

TEST_CASE("a job that may grow runs although no swarm is known") {
  QueueBench bench;
  bench.host.config_.queue.group_network = "train";
  bench.submit("net", "cpu=1,mem=1G", {{"flowcon.workers", "1:3"}, {"flowcon.elastic", "join"}});
  bench.run(15);
  CHECK(bench.state("net") == "running");
  CHECK(running(bench.engine) == 3);
}

TEST_CASE("workers join on other hosts, and leave the one where another job waits") {
  SpreadQueues hosts;
  hosts.submit("net", 1, {{"flowcon.workers", "1:7"}, {"flowcon.elastic", "join"}});
  REQUIRE(hosts.until([&] { return hosts.both() == 7; }, 120));
  REQUIRE(running(hosts.h1.engine) >= 3);
  CHECK(network_of(hosts.h2.engine, "net-w0") == "train");
  // Nothing is known of either: the one that has had its turn gives.
  hosts.run(60);
  hosts.h2.engine.create("short", {{"flowcon.queue", "true"}, {"flowcon.request", "cpu=3,mem=1G"}});
  REQUIRE(hosts.comes_to("short", "running", 60));
  CHECK(hosts.both() < 7);
  CHECK(hosts.state("net") == "running");
  CHECK(hosts.both() >= 4);
}

TEST_CASE("where one host fails to start its part nothing of the job runs") {
  SpreadQueues hosts;
  hosts.h1.engine.conflicts_ = {"there is a container of that name"};
  hosts.submit("net", 1, {{"flowcon.workers", "6"}});
  for (int turn = 0; turn < 60; ++turn) {
    hosts.run(0.5);
    REQUIRE(hosts.both() == 0);
  }
  hosts.h1.engine.conflicts_.clear();
  if (hosts.job("net").at("held").as_bool()) hosts.call("POST", "/v1/queue/net/release");
  CHECK(hosts.comes_to("net", "running", 120));
  CHECK(hosts.both() == 6);
}

TEST_CASE("while one of its hosts is silent a job goes on; a person who gives that up ends it") {
  SpreadQueues hosts;
  const bool joins = GENERATE(true, false);
  hosts.submit(
      "net", 1,
      {{"flowcon.workers", joins ? "1:6" : "6"}, {"flowcon.elastic", joins ? "join" : "no"}});
  REQUIRE(hosts.until([&] { return hosts.both() == 6; }, 120));
  const std::size_t at_home = running(hosts.h2.engine);
  hosts.is_cut = true;
  hosts.h2.network.neighbours_.front().is_reachable = false;
  hosts.run(60);
  CHECK(hosts.state("net") == "running");
  CHECK(running(hosts.h2.engine) == at_home);
  CHECK(text_of(hosts.call("POST", "/v1/queue/net/restart", R"({"without":"h2"})"), "error") ==
        "job net is on h1: name the host that is lost");
  hosts.call("POST", "/v1/queue/net/restart", R"({"without":"h1"})");
  hosts.run(20);
  if (joins) {
    CHECK(hosts.state("net") == "running");
    CHECK(running(hosts.h2.engine) >= at_home);
  } else {
    CHECK(hosts.state("net") == "waiting");
    CHECK(running(hosts.h2.engine) == 0);
  }
  hosts.is_cut = false;
  hosts.h2.network.neighbours_.front().is_reachable = true;
  REQUIRE(hosts.until([&] { return hosts.both() == 6; }, 200));
  for (TwoQueues::Side* side : {&hosts.h1, &hosts.h2}) {
    for (const auto& [name, box] : tasks_of(side->engine)) REQUIRE(box->lives <= 1);
  }
}

// ------------------------------------------------------------------- the hosts' own networks

class OpenQueues : public SpreadQueues {
 public:
  OpenQueues() {
    std::uint16_t first = 41700;
    for (Side* side : {&h1, &h2}) {
      side->host.config_.queue.group_network = "host";
      side->host.config_.queue.advertise = "127.0.0.1";
      side->host.config_.queue.group_ports = {first, static_cast<std::uint16_t>(first + 49)};
      side->host.config_.accept.host_network = true;
      side->engine.swarm_.clear();
      first = static_cast<std::uint16_t>(first + 50);
    }
  }
};

TEST_CASE("tasks in the networks of two hosts know each other by address and port") {
  OpenQueues hosts;
  hosts.submit(
      "net", 1,
      {{"flowcon.workers", "5"}, {"flowcon.ps", "1"}, {"flowcon.ps-request", "cpu=1,mem=1G"}});
  REQUIRE(hosts.comes_to("net", "running", 60));
  CHECK(hosts.both() == 6);
  CHECK(text_of(hosts.job("net"), "host") == "h1 h2");
  const auto tasks = tasks_of(hosts.h2.engine);
  CHECK(network_of(hosts.h2.engine, "net-w4") == "host");
  std::set<std::string> ports;
  for (const auto& [name, box] : tasks) {
    ports.insert(box->labels.at(migration::kPortLabel));
    CHECK(variable(hosts.h2.engine, box->id, "FLOWCON_PORT") ==
          box->labels.at(migration::kPortLabel));
  }
  CHECK(ports.size() == 6);
  const std::string last = tasks.at("net-w4")->id;
  CHECK(variable(hosts.h2.engine, last, "MASTER_ADDR") == "127.0.0.1");
  CHECK(variable(hosts.h2.engine, last, "MASTER_PORT") ==
        tasks.at("net-w0")->labels.at(migration::kPortLabel));
  CHECK(variable(hosts.h2.engine, last, "GLOO_SOCKET_IFNAME") == "lo");
  hosts.end_all();
  REQUIRE(hosts.comes_to("net", "done", 60));
}

TEST_CASE("servers of two hosts are found by published ports, which need an address alone") {
  OpenQueues hosts;
  for (auto* side : {&hosts.h1, &hosts.h2}) {
    side->host.config_.queue.group_network = ctrl::kAutoNetwork;
    side->host.config_.accept.host_network = false;
  }
  SECTION("with servers") {
    hosts.submit(
        "net", 1,
        {{"flowcon.workers", "5"}, {"flowcon.ps", "1"}, {"flowcon.ps-request", "cpu=1,mem=1G"}});
    REQUIRE(hosts.comes_to("net", "running", 60));
    CHECK(hosts.both() == 6);
    const auto tasks = tasks_of(hosts.h2.engine);
    REQUIRE(tasks.contains("net-w4"));
    CHECK(migration::is_group_network(network_of(hosts.h2.engine, "net-w4")));
    CHECK(
        variable(hosts.h2.engine, tasks.at("net-w4")->id, "FLOWCON_PS").starts_with("127.0.0.1:"));
    hosts.end_all();
    REQUIRE(hosts.comes_to("net", "done", 60));
  }
  SECTION("workers alone talk at ports of their own, and are not spread") {
    hosts.submit("net", 1, {{"flowcon.workers", "6"}});
    hosts.run(5);
    CHECK(hosts.state("net") == "refused");
  }
  SECTION("the other host has no address") {
    hosts.h1.host.config_.queue.advertise.clear();
    hosts.submit(
        "net", 1,
        {{"flowcon.workers", "5"}, {"flowcon.ps", "1"}, {"flowcon.ps-request", "cpu=1,mem=1G"}});
    hosts.run(20);
    CHECK(hosts.state("net") == "waiting");
    CHECK(hosts.both() == 0);
  }
}

TEST_CASE("a job does not go to a host whose network is closed to peers, or has no ports left") {
  OpenQueues hosts;
  SECTION("it says so before") {
    hosts.h1.host.config_.accept.host_network = false;
    hosts.submit("net", 1, {{"flowcon.workers", "6"}});
    hosts.run(20);
    CHECK(hosts.state("net") == "waiting");
  }
  SECTION("it has too few ports") {
    hosts.h1.host.config_.queue.group_ports = {41790, 41791};
    hosts.submit("net", 1, {{"flowcon.workers", "6"}});
    hosts.run(8);
    CHECK(hosts.state("net") == "waiting");
    CHECK(hosts.note("net").find("h1 refuses: its ports 41790 to 41791 (group-ports) are in use") !=
          std::string::npos);
  }
  CHECK(hosts.both() == 0);
}

TEST_CASE("a job that asks for the host's network has ports there on one host, too") {
  OpenQueues hosts;
  hosts.h2.engine.create(
      "net",
      {{"flowcon.queue", "true"}, {"flowcon.workers", "2"}, {"flowcon.request", "cpu=1,mem=1G"}},
      {{"NetworkMode", "host"}});
  REQUIRE(hosts.comes_to("net", "running", 60));
  CHECK(tasks_of(hosts.h2.engine).at("net-w1")->labels.contains(migration::kPortLabel));
  hosts.end_all();
  REQUIRE(hosts.comes_to("net", "done", 60));
  hosts.h2.host.config_.queue.advertise.clear();
  hosts.h2.engine.create(
      "lost",
      {{"flowcon.queue", "true"}, {"flowcon.workers", "2"}, {"flowcon.request", "cpu=1,mem=1G"}},
      {{"NetworkMode", "host"}});
  hosts.run(5);
  CHECK(hosts.state("lost") == "refused");
  CHECK(hosts.note("lost").find("advertise in flowcon.conf") != std::string::npos);
}

// ----------------------------------------------------------------------------- whatever fails

enum class Victim { owner, host, network };
const char* name(Victim victim) {
  return victim == Victim::owner ? "owner" : victim == Victim::host ? "host" : "network";
}

// A job over both hosts; flowcond of one of them is killed, or the network between them goes, for
// two seconds.
class Struck : public SpreadQueues {
 public:
  Struck(Victim victim, double after) : victim_(victim), strike_(clock.steady() + after) {}

  void strike_in(double seconds) { strike_ = clock.steady() + seconds; }
  bool passed() const { return back_ == 0 && has_struck_; }

  // So long, or until it is so and the strike is over. False, and `wrong` says why, where anything
  // was as it must never be.
  template <class IsSo>
  bool go_on(IsSo is_so, double most = 250) {
    for (const double until = clock.steady() + most; clock.steady() < until;) {
      strike();
      for (Side* side : {&h1, &h2}) {
        for (const auto& [name, box] : tasks_of(side->engine)) {
          if (box->lives > 1) wrong = name + " was started twice";
        }
      }
      if (both() > 6) wrong = "a task runs twice";
      if (!wrong.empty()) return false;
      run(0.1);
      if (passed() && h2.is_up && is_so()) return true;
    }
    wrong = "it is " + state("net") + ": " + note("net") + ", " + std::to_string(both()) + " run";
    return false;
  }
  // Asked for until it has come.
  template <class IsSo>
  bool insist(const std::string& verb, const std::string& body, IsSo is_so) {
    double next = 0;
    return go_on([&] {
      if (is_so()) return true;
      if (clock.steady() >= next) call("POST", "/v1/queue/net/" + verb, body);
      next = clock.steady() + 5;
      return false;
    });
  }
  // Nobody strikes any more: it comes to its end.
  std::string ends() {
    if (!wrong.empty()) return wrong;
    if (!go_on([&] { return both() == 6 && state("net") == "running"; })) return wrong;
    end_all();
    if (!go_on([&] { return state("net") == "done"; })) return wrong;
    run(15);
    return h1.engine.boxes_.empty() ? "" : "a task is left";
  }
  std::string wrong;

 private:
  void strike() {
    Side& side = victim_ == Victim::owner ? h2 : h1;
    if (!has_struck_ && clock.steady() >= strike_) {
      has_struck_ = true;
      back_ = clock.steady() + 2;
      victim_ == Victim::network ? void(is_cut = true) : kill(side);
    }
    if (back_ == 0 || clock.steady() < back_) return;
    back_ = 0;
    is_cut = false;
    if (!side.is_up) start(side);
  }

  Victim victim_;
  double strike_ = 0;
  bool has_struck_ = false;
  double back_ = 0;
};

constexpr double kNever = 1e9;
const Labels kJoins{{"flowcon.workers", "1:6"}, {"flowcon.elastic", "join"}};
const Labels kSaves{{"flowcon.workers", "6"}, {"flowcon.checkpoint.signal", "SIGUSR1"}};

std::string struck_while_starting(Victim victim, double after) {
  Struck hosts(victim, after);
  hosts.submit("net", 1, {{"flowcon.workers", "6"}});
  return hosts.ends();
}

std::string struck_while_resizing(Victim victim, double after) {
  Struck hosts(victim, kNever);
  hosts.submit("net", 1, kJoins);
  if (!hosts.until([&] { return hosts.both() == 6; }, 120)) return "it does not grow";
  hosts.strike_in(after);
  const auto is_small = [&] { return hosts.job("net").at("workers") == 2 && hosts.both() == 2; };
  if (!hosts.insist("set", R"({"workers":"2"})", is_small)) return hosts.wrong;
  hosts.call("POST", "/v1/queue/net/set", R"({"workers":"none"})");
  return hosts.ends();
}

std::string struck_while_growing(Victim victim, double after) {
  Struck hosts(victim, kNever);
  hosts.submit("net", 1, kJoins);
  if (!hosts.until([&] { return hosts.both() == 6; }, 120)) return "it does not grow";
  hosts.call("POST", "/v1/queue/net/set", R"({"workers":"2"})");
  if (!hosts.until([&] { return hosts.both() == 2; }, 120)) return "it does not shrink";
  hosts.run(20);
  hosts.call("POST", "/v1/queue/net/set", R"({"workers":"6"})");
  hosts.strike_in(after);
  return hosts.ends();
}

std::string struck_while_parking(Victim victim, double after) {
  Struck hosts(victim, kNever);
  hosts.submit("net", 1, kSaves);
  if (!hosts.until([&] { return hosts.both() == 6; }, 120)) return "it does not start";
  hosts.run(20);
  hosts.strike_in(after);
  const auto is_parked = [&] {
    return hosts.state("net") == "waiting" && hosts.job("net").at("held").as_bool();
  };
  if (!hosts.insist("park", "{}", is_parked)) return hosts.wrong;
  if (hosts.both() > 0) return "parked, it runs";
  hosts.call("POST", "/v1/queue/net/release", "{}");
  return hosts.ends();
}

std::string struck_while_ending(Victim victim, double after) {
  Struck hosts(victim, kNever);
  hosts.submit("net", 1, {{"flowcon.workers", "6"}});
  if (!hosts.until([&] { return hosts.both() == 6; }, 120)) return "it does not start";
  hosts.run(20);
  hosts.end_all();
  hosts.strike_in(after);
  if (!hosts.go_on([&] { return hosts.state("net") == "done"; })) return hosts.wrong;
  hosts.run(15);
  return hosts.h1.engine.boxes_.empty() ? "" : "a task is left";
}

std::string struck_while_cancelled(Victim victim, double after) {
  Struck hosts(victim, kNever);
  hosts.submit("net", 1, {{"flowcon.workers", "6"}});
  if (!hosts.until([&] { return hosts.both() == 6; }, 120)) return "it does not start";
  hosts.strike_in(after);
  const auto is_over = [&] { return hosts.state("net") == "cancelled"; };
  if (!hosts.insist("cancel", "{}", is_over)) return hosts.wrong;
  hosts.run(15);
  if (hosts.both() > 0) return "cancelled, it runs";
  return hosts.h1.engine.boxes_.empty() ? "" : "a task is left";
}

// At each fraction of a second of what it takes.
void strike_at_each(std::string (*story)(Victim, double), double most) {
  const Victim victim = GENERATE(Victim::owner, Victim::host, Victim::network);
  for (double after = 0; after < most; after += 0.4) {
    INFO(name(victim) << " after " << after << " s");
    REQUIRE(story(victim, after) == "");
  }
}

TEST_CASE("struck while it starts, a job over two hosts runs as a whole, once") {
  strike_at_each(struck_while_starting, 12);
}
TEST_CASE("struck while it shrinks, a job over two hosts keeps the workers that it is to have") {
  strike_at_each(struck_while_resizing, 6);
}
TEST_CASE("struck while it grows, a job over two hosts gets the workers that it is to have") {
  strike_at_each(struck_while_growing, 8);
}
TEST_CASE("struck while it is parked, a job over two hosts comes back as a whole") {
  strike_at_each(struck_while_parking, 8);
}
TEST_CASE("struck while it ends, a job over two hosts is done and leaves nothing") {
  strike_at_each(struck_while_ending, 6);
}
TEST_CASE("struck while it is cancelled, a job over two hosts leaves nothing") {
  strike_at_each(struck_while_cancelled, 6);
}

}  // namespace
}  // namespace flowcon::cluster::test
