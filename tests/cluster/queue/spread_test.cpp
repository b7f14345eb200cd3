// SPDX-License-Identifier: Apache-2.0
// Jobs of several containers on several hosts at a time, through the real queues and migrators.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/cluster/queue/spread_queues.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::test {
namespace {

std::string network_of(const QueueEngine& engine, const std::string& name) {
  const std::string id = tasks_of(engine).at(name)->id;
  return text_of(member(boost::json::value(engine.inspects_.at(id)), "HostConfig"), "NetworkMode");
}

TEST_CASE("a job whose containers its engine refuses is not tried on the next host at once") {
  SpreadQueues hosts;
  hosts.h2.engine.refuses_create_ = "no such driver";
  hosts.submit("net", 1, {{"flowcon.workers", "2"}});
  const auto tried = [&] {
    const std::vector<std::string>& acts = hosts.h2.engine.acts_;
    return std::count_if(acts.begin(), acts.end(),
                         [](const std::string& act) { return act.starts_with("create "); });
  };
  REQUIRE(hosts.until([&] { return tried() == 1; }, 60));
  hosts.run(10);
  CHECK(tried() == 1);
  hosts.h2.engine.refuses_create_.clear();
  CHECK(hosts.comes_to("net", "running", 120));
}

TEST_CASE("a job that no host holds as a whole is on two, and comes home") {
  SpreadQueues hosts;
  const std::string id = hosts.submit("net", 1, {{"flowcon.workers", "6"}});
  REQUIRE(hosts.comes_to("net", "running", 60));
  CHECK(running(hosts.h1.engine) == 4);
  CHECK(running(hosts.h2.engine) == 2);
  CHECK(text_of(hosts.job("net"), "host") == "h1 h2");
  CHECK(text_of(member(hosts.job("net"), "placement"), "sentence") ==
        "goes to h1 (4 workers), h2 (2 workers): score 2");
  CHECK(network_of(hosts.h2.engine, "net-w5") == "train");
  const std::string last = tasks_of(hosts.h2.engine).at("net-w5")->id;
  CHECK(variable(hosts.h2.engine, last, "MASTER_ADDR") == id.substr(0, 12) + "-w0");
  CHECK(hosts.h2.engine.networks_.empty());
  hosts.run(20);
  hosts.end_all();
  REQUIRE(hosts.comes_to("net", "done", 60));
  CHECK(hosts.h1.engine.boxes_.empty());
  CHECK(tasks_of(hosts.h2.engine).size() == 6);
}

TEST_CASE(
    "in the network that jobs of other hosts are in, too, one on one host has names of its own") {
  SpreadQueues hosts;
  const bool is_common = GENERATE(true, false);
  const std::string id = hosts.h2.engine.create(
      "net",
      {{"flowcon.queue", "true"}, {"flowcon.workers", "2"}, {"flowcon.request", "cpu=1,mem=1G"}},
      {{"NetworkMode", is_common ? "train" : "mesh"}});
  REQUIRE(hosts.comes_to("net", "running", 60));
  const std::string second = tasks_of(hosts.h2.engine).at("net-w1")->id;
  CHECK(variable(hosts.h2.engine, second, "MASTER_ADDR") ==
        (is_common ? id.substr(0, 12) + "-w0" : "net-w0"));
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

TEST_CASE("what nobody said of tasks on several hosts is no more than these have for them") {
  SpreadQueues hosts;
  hosts.h2.engine.create("net", {{"flowcon.queue", "true"}, {"flowcon.workers", "9"}});
  REQUIRE(hosts.comes_to("net", "running", 90));
  CHECK(hosts.both() == 9);
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
  SECTION("together they have as much, but none enough for two of its tasks") {
    hosts.h2.engine.create("net", {{"flowcon.queue", "true"},
                                   {"flowcon.workers", "3"},
                                   {"flowcon.request", "cpu=2.5,mem=1G"}});
    hosts.run(5);
    CHECK(hosts.state("net") == "refused");
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

TEST_CASE("a task that was told to stop was not interrupted, though its host has forgotten why") {
  SpreadQueues hosts;
  hosts.submit("net", 1, {{"flowcon.workers", "6"}});
  REQUIRE(hosts.comes_to("net", "running", 60));
  REQUIRE(running(hosts.h1.engine) == 4);
  // The first one is told, and nothing is heard of it any more.
  const auto is_told = std::make_shared<bool>(false);
  const FakeLink::Ask ask = hosts.h2.network.ask_;
  hosts.h2.network.ask_ = [&hosts, is_told, ask](std::string method, std::string path,
                                                 std::string body) -> Async<Result<Answer>> {
    const bool is_stop =
        path == "/v1/peer/queue/task" && body.find("\"stop\"") != std::string::npos;
    Result<Answer> said = co_await ask(std::move(method), std::move(path), std::move(body));
    if (is_stop && !std::exchange(*is_told, true)) hosts.is_cut = true;
    co_return said;
  };
  hosts.h2.engine.end_with(tasks_of(hosts.h2.engine).at("net-w5")->id, 1);
  REQUIRE(hosts.until([&] { return hosts.is_cut; }, 30));
  hosts.run(2);
  REQUIRE(running(hosts.h1.engine) == 3);
  hosts.kill(hosts.h1);
  hosts.h1.engine.forgets_ = true;
  hosts.start(hosts.h1);
  hosts.is_cut = false;
  CHECK(hosts.comes_to("net", "failed", 120));
}

TEST_CASE("a job says which of its tasks is on a silent host, as long as it is") {
  SpreadQueues hosts;
  hosts.submit("net", 1, {{"flowcon.workers", "6"}});
  REQUIRE(hosts.comes_to("net", "running", 60));
  hosts.is_cut = true;
  hosts.run(30);
  CHECK(hosts.note("net").starts_with("net-w"));
  CHECK(hosts.note("net").find(": no connection") != std::string::npos);
  hosts.is_cut = false;
  hosts.run(30);
  CHECK(hosts.note("net").find("no connection") == std::string::npos);
}

TEST_CASE("a worker that leaves another host leaves nothing there, though others write here") {
  SpreadQueues hosts;
  hosts.h1.host.config_.queue.offer.is_none = true;
  hosts.run(10);
  const std::string ticket =
      hosts.submit("net", 1, {{"flowcon.workers", "1:5"}, {"flowcon.elastic", "join"}});
  boost::json::array mounts;
  mounts.push_back(
      {{"Type", "volume"}, {"Name", "ck"}, {"Driver", "local"}, {"Destination", "/ck"}});
  hosts.h2.engine.inspects_.at(ticket)["Mounts"] = mounts;
  REQUIRE(hosts.until([&] { return running(hosts.h2.engine) == 4; }, 60));
  hosts.h1.host.config_.queue.offer.is_none = false;
  REQUIRE(hosts.until([&] { return running(hosts.h1.engine) == 1; }, 60));
  REQUIRE(hosts.comes_to("net", "running", 10));
  hosts.call("POST", "/v1/queue/net/set", R"({"workers":"1"})");
  CHECK(hosts.until([&] { return hosts.h1.engine.boxes_.empty(); }, 90));
  CHECK(hosts.state("net") == "running");
  CHECK(running(hosts.h2.engine) == 1);
}

TEST_CASE("a first worker elsewhere that only reads its volume is done without") {
  SpreadQueues hosts;
  const bool is_read_only = GENERATE(true, false);
  hosts.h2.host.config_.queue.offer.is_none = true;
  hosts.run(10);
  const std::string ticket = hosts.submit(
      "net", 1,
      {{"flowcon.workers", "1:3"}, {"flowcon.elastic", "join"}, {"flowcon.retries", "0"}});
  boost::json::array mounts;
  mounts.push_back(
      {{"Type", "volume"}, {"Name", "data"}, {"Driver", "local"}, {"Destination", "/data"}});
  if (is_read_only) mounts.front().as_object()["RW"] = false;
  hosts.h2.engine.inspects_.at(ticket)["Mounts"] = mounts;
  REQUIRE(hosts.until([&] { return running(hosts.h1.engine) == 3; }, 120));
  hosts.run(5);
  hosts.h1.engine.end_with(tasks_of(hosts.h1.engine).at("net-w0")->id, 1);
  hosts.run(5);
  CHECK((hosts.state("net") == "running") == is_read_only);
}

// ------------------------------------------------------------------- the hosts' own networks

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

// Each of two hosts has ports for one of these.
class FewPorts : public OpenQueues {
 public:
  FewPorts() {
    h1.host.config_.queue.group_ports = {41860, 41861};
    h2.host.config_.queue.group_ports = {41870, 41871};
  }
  void submit_pair(const std::string& name) {
    h2.engine.create(
        name,
        {{"flowcon.queue", "true"}, {"flowcon.workers", "2"}, {"flowcon.request", "cpu=1,mem=1G"}},
        {{"NetworkMode", "host"}});
  }
};

TEST_CASE("ports of a job that is over are the next one's, on its own host and on another") {
  FewPorts hosts;
  const bool is_away = GENERATE(false, true);
  (is_away ? hosts.h2 : hosts.h1).host.config_.queue.offer.is_none = true;
  for (const char* name : {"a", "b", "c"}) {
    INFO(name << (is_away ? " on h1" : " on h2"));
    hosts.submit_pair(name);
    REQUIRE(hosts.comes_to(name, "running", 60));
    hosts.run(5);
    hosts.end_all();
    REQUIRE(hosts.comes_to(name, "done", 60));
  }
}

// All tasks are on h1, and what it gets back takes long to reach it.
class SlowDrops : public OpenQueues {
 public:
  struct Calls {
    int drops = 0;
    int on_their_way = 0;
    bool is_overtaken = false;  ///< a lease was asked for meanwhile
  };

  SlowDrops() {
    h2.host.config_.queue.offer.is_none = true;
    h2.network.ask_ = [this, seen = calls, ask = h2.network.ask_](
                          std::string method, std::string path,
                          std::string body) -> Async<Result<Answer>> {
      const bool is_of_ports = path == "/v1/peer/queue/ports";
      const bool is_drop = is_of_ports && body.find("\"drop\"") != std::string::npos;
      const bool is_lease = is_of_ports && body.find("\"lease\"") != std::string::npos;
      if (is_lease && seen->on_their_way > 0) seen->is_overtaken = true;
      if (is_drop) {
        ++seen->drops;
        ++seen->on_their_way;
        co_await clock.pause(15);
      }
      Result<Answer> said = co_await ask(std::move(method), std::move(path), std::move(body));
      if (is_drop) --seen->on_their_way;
      co_return said;
    };
  }
  void submit_workers(const std::string& name, const std::string& workers) {
    h2.engine.create(name,
                     {{"flowcon.queue", "true"},
                      {"flowcon.workers", workers},
                      {"flowcon.request", "cpu=1,mem=1G"}},
                     {{"NetworkMode", "host"}});
  }

  const std::shared_ptr<Calls> calls = std::make_shared<Calls>();  ///< what waits outlives this
};

TEST_CASE("no port is leased while others are on their way back, which could be the same") {
  SlowDrops hosts;
  hosts.submit_workers("a", "2");
  REQUIRE(hosts.comes_to("a", "running", 60));
  hosts.run(5);
  hosts.end_all();
  REQUIRE(hosts.until([&] { return hosts.calls->on_their_way > 0; }, 60));
  hosts.submit_workers("b", "2");
  REQUIRE(hosts.comes_to("b", "running", 90));
  CHECK_FALSE(hosts.calls->is_overtaken);
}

TEST_CASE("a host gets all ports of a job back by few calls, over the connection that there is") {
  SlowDrops hosts;
  hosts.submit_workers("net", "4");
  REQUIRE(hosts.comes_to("net", "running", 60));
  hosts.run(5);
  hosts.end_all();
  REQUIRE(hosts.comes_to("net", "done", 60));
  hosts.run(60);
  CHECK(hosts.calls->drops >= 1);
  CHECK(hosts.calls->drops < 4);
  CHECK(hosts.calls->on_their_way == 0);
  const std::vector<std::string>& longer = hosts.h2.network.long_asks_;
  CHECK(std::count(longer.begin(), longer.end(), "/v1/peer/queue/ports") == 0);
}

enum class Fate { lost, refused, unanswered };

// All tasks are on h1, which has ports for one job at a time; so comes the first of what it is told
// to have back.
class LostDrops : public FewPorts {
 public:
  struct Calls {
    int left = 3;  ///< that come so
    int drops = 0;
  };

  explicit LostDrops(Fate fate) {
    h2.host.config_.queue.offer.is_none = true;
    h2.network.ask_ = [fate, seen = calls, ask = h2.network.ask_](
                          std::string method, std::string path,
                          std::string body) -> Async<Result<Answer>> {
      const bool is_drop =
          path == "/v1/peer/queue/ports" && body.find("\"drop\"") != std::string::npos;
      const bool is_struck = is_drop && seen->left > 0;
      seen->drops += is_drop ? 1 : 0;
      seen->left -= is_struck ? 1 : 0;
      if (is_struck && fate == Fate::lost) co_return errno_error(ETIMEDOUT, "no connection");
      if (is_struck && fate == Fate::refused) co_return Answer{503, R"({"error":"not now"})"};
      Result<Answer> said = co_await ask(std::move(method), std::move(path), std::move(body));
      if (is_struck) co_return errno_error(ETIMEDOUT, "no connection");
      co_return said;
    };
  }

  const std::shared_ptr<Calls> calls = std::make_shared<Calls>();  ///< what waits outlives this
};

TEST_CASE("a host is told what it gets back until it knows, and keeps what it has leased since") {
  const Fate fate = GENERATE(Fate::lost, Fate::refused, Fate::unanswered);
  INFO("fate " << static_cast<int>(fate));
  LostDrops hosts(fate);
  hosts.submit_pair("a");
  REQUIRE(hosts.comes_to("a", "running", 60));
  hosts.run(5);
  hosts.end_all();
  REQUIRE(hosts.comes_to("a", "done", 60));
  hosts.submit_pair("b");
  REQUIRE(hosts.comes_to("b", "running", 200));
  hosts.run(70);
  const int drops = hosts.calls->drops;
  hosts.run(130);
  CHECK(hosts.state("b") == "running");
  CHECK(hosts.calls->drops == drops);
}

TEST_CASE("what a host is to get back it gets once, also where flowcond has started again since") {
  LostDrops hosts(Fate::lost);
  hosts.calls->left = 1000;
  hosts.submit_pair("a");
  REQUIRE(hosts.comes_to("a", "running", 60));
  hosts.run(5);
  hosts.end_all();
  REQUIRE(hosts.comes_to("a", "done", 60));
  hosts.kill(hosts.h2);
  hosts.start(hosts.h2);
  hosts.calls->left = 0;
  hosts.submit_pair("b");
  REQUIRE(hosts.comes_to("b", "running", 200));
  const int drops = hosts.calls->drops;
  hosts.kill(hosts.h2);
  hosts.start(hosts.h2);
  hosts.run(70);
  CHECK(hosts.calls->drops == drops);
}

TEST_CASE("a host without an address takes back what it has leased") {
  FewPorts hosts;
  hosts.h2.host.config_.queue.offer.is_none = true;
  hosts.submit_pair("a");
  REQUIRE(hosts.comes_to("a", "running", 60));
  hosts.h1.host.config_.queue.advertise.clear();
  hosts.end_all();
  REQUIRE(hosts.comes_to("a", "done", 60));
  hosts.run(5);
  hosts.h1.host.config_.queue.advertise = "127.0.0.1";
  hosts.submit_pair("b");
  CHECK(hosts.comes_to("b", "running", 200));
}

TEST_CASE("a job whose ports others have waits for them, and is not held for that") {
  FewPorts hosts;
  for (const char* name : {"a", "b"}) {
    hosts.submit_pair(name);
    REQUIRE(hosts.comes_to(name, "running", 120));
  }
  hosts.submit_pair("c");
  hosts.run(150);
  CHECK_FALSE(hosts.job("c").at("held").as_bool());
  CHECK(hosts.both() == 4);
  hosts.end_all();
  CHECK(hosts.comes_to("c", "running", 120));
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

}  // namespace
}  // namespace flowcon::cluster::test
