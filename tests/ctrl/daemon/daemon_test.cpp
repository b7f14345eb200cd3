// SPDX-License-Identifier: Apache-2.0
// The loop of one host, without an engine and a kernel: arrivals, ends, restarts, hand-overs,
// writes that fail.
#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <cstdint>
#include <functional>

#include "base/json.h"
#include "ctrl/await.h"
#include "tests/ctrl/daemon/world.h"
#include "tests/support/catch.h"

using namespace flowcon;
using test::Host;
using test::run_two;
using test::StandardError;

namespace {

// Something is on its way, and comes to its end after so many looks.
class Traveller : public ctrl::Extension {
 public:
  struct Seen {
    int looks = 0;
    std::string weight;  // of a, at its end
  };
  Traveller(Host& host, Seen& seen) : host_(host), seen_(seen) {}
  Async<void> begin() override { co_return; }
  void look(double) override {
    if (is_settling_ && ++seen_.looks == 3) arrived_.cancel();
  }
  ctrl::api::Routes routes() override { return {}; }
  Async<void> settle(double) override {
    is_settling_ = true;
    host_.fs.set("docker/" + Host::id_of("a"), "cpu.weight", "7777");  // another program
    arrived_.expires_at(boost::asio::steady_timer::time_point::max());
    co_await arrived_.async_wait(kAwait);
    seen_.weight = host_.weight("a");
  }
  void end() override {}

 private:
  Host& host_;
  Seen& seen_;
  bool is_settling_ = false;
  boost::asio::steady_timer arrived_{*host_.io};
};

// b has begun beside a, whose cores it gets, until `is_over`.
class EarlyB : public ctrl::Extension {
 public:
  explicit EarlyB(bool& is_over) : is_over_(is_over) {}
  Async<void> begin() override { co_return; }
  void look(double) override {}
  ctrl::api::Routes routes() override { return {}; }
  [[nodiscard]] bool is_early(const std::string& id) const override {
    return id == Host::id_of("b") && !is_over_;
  }
  [[nodiscard]] std::optional<double> promised_cores(const std::string&) const override {
    return 4;
  }
  [[nodiscard]] std::optional<ctrl::QueueCounts> queue_counts() const override {
    return is_over_ ? std::optional(ctrl::QueueCounts{2, 1}) : std::nullopt;
  }
  Async<void> settle(double) override { co_return; }
  void end() override {}

 private:
  bool& is_over_;
};

}  // namespace

TEST_CASE("jobs that arrive share the host, and at the end each has what it had") {
  Host host;
  run_two(host);
  CHECK(host.weight("a") != "100");
  CHECK(std::stoi(host.weight("b")) > std::stoi(host.weight("a")));
  CHECK(host.status_of("a").at("state").as_string() == "controlled");
  host.end();
  CHECK(host.weight("a") == "100");
  CHECK(host.weight("b") == "100");
}

TEST_CASE("how far a job goes is told by its command where its counter does not say it") {
  Host host;
  host.begin();
  ctrl::engine::Container container;
  container.command = "python3 train.py --epochs 20";
  container.environment = {{"EPOCHS", "30"}};
  host.start("told", {}, container);
  host.start("other");
  host.pass();
  std::ofstream log(host.folder.path() + "/" + Host::id_of("told") + "-json.log");
  for (const char* line : {"Epoch 4 loss: 0.5", "Epoch 5 loss: 0.4"}) {
    log << R"({"log":")" << line << R"(\n","stream":"stdout","time":"2033-05-18T03:33:20Z"})"
        << std::endl;
  }
  for (int i = 1; i <= 3; ++i) {
    host.use("told", 5 * i);
    host.use("other", 5 * i);
    host.pass();
  }
  const boost::json::value told = host.status_of("told");
  const boost::json::object& progress = told.at("progress").as_object();
  CHECK(progress.at("done").to_number<double>() == 5);
  CHECK(progress.at("total").to_number<double>() == 20);
  CHECK(progress.at("from").as_string() == "command");
  CHECK(told.at("left").to_number<double>() > 0);
  CHECK(host.status_of("other").at("left").is_null());
  host.end();
}

TEST_CASE("one that is alone keeps what it has") {
  Host host;
  host.begin();
  host.start("a");
  for (int i = 0; i < 3; ++i) host.pass();
  CHECK(host.fs.writes().empty());
  CHECK(host.status_of("a").at("limit").to_number<double>() == 1);
}

TEST_CASE("what one leaves at its end the other has") {
  Host host;
  run_two(host);
  host.stop("b");
  host.pass(0.1);
  CHECK(host.weight("a") == "100");
  CHECK(host.status_of("b").is_null());
  REQUIRE(host.ask("GET", "/v1/runs") == 200);
  CHECK(host.status_of("a").at("resources").at("cpu").at("limit").to_number<double>() == 1);
}

TEST_CASE(
    "a container that is started again within a pass is another life with originals of its own") {
  Host host;
  run_two(host);
  host.stop("a");
  host.start("a");
  host.fs.set("docker/" + Host::id_of("a"), "cpu.weight", "300");
  host.pass(0.1);
  CHECK(host.status_of("a").at("state").as_string() == "controlled");
  host.end();
  CHECK(host.weight("a") == "300");
}

TEST_CASE("one that has begun beside another has what that leaves until it ends") {
  Host host;
  host.begin();
  bool is_over = false;
  host.daemon->extend(std::make_unique<EarlyB>(is_over));
  for (const char* name : {"a", "b"}) {
    host.start(name);
    host.pass();
  }
  host.pass();
  CHECK(std::stoi(host.weight("a")) > 10 * std::stoi(host.weight("b")));
  is_over = true;
  host.pass();
  CHECK(2 * std::stoi(host.weight("b")) > std::stoi(host.weight("a")));
  host.end();
}

TEST_CASE("the status says how many jobs of the queue there are, where that is known") {
  Host host;
  host.begin();
  bool is_known = false;
  host.daemon->extend(std::make_unique<EarlyB>(is_known));
  REQUIRE(host.ask("GET", "/v1/status") == 200);
  CHECK_FALSE(host.json().as_object().contains("queue"));
  is_known = true;
  REQUIRE(host.ask("GET", "/v1/status") == 200);
  CHECK(render_json(host.json().at("queue")) == R"({"waiting":2,"running":1})");
  host.end();
}

TEST_CASE("a write that fails is said, and tried again") {
  Host host;
  host.begin();
  host.start("a");
  host.pass();
  host.start("b", {{"flowcon.weight", "4"}});
  host.fs.fail_write(1, EIO);
  host.pass();
  const std::string first = std::string(host.status_of("a").at("note").as_string()) +
                            std::string(host.status_of("b").at("note").as_string());
  CHECK(first.find("cpu.weight") != std::string::npos);
  host.pass();
  host.pass();
  CHECK(host.weight("a") != "100");
  CHECK(host.weight("b") != "100");
  CHECK(host.status_of("a").at("note").as_string().find("cpu.weight") == std::string::npos);
}

TEST_CASE("what another program writes is written over within three ticks, and counted") {
  Host host;
  run_two(host);
  const std::string ours = host.weight("a");
  host.fs.set("docker/" + Host::id_of("a"), "cpu.weight", "7777");
  for (int tick = 0; tick < 3; ++tick) host.pass();
  CHECK(host.weight("a") == ours);
  REQUIRE(host.ask("GET", "/v1/status") == 200);
  CHECK(host.json().at("reverts").to_number<int>() == 1);
  CHECK(host.json().at("reapplied").to_number<int>() == 1);
}

TEST_CASE("a dry run decides and writes nothing") {
  Host host;
  host.config.dry_run = true;
  run_two(host);
  CHECK(host.fs.writes().empty());
  CHECK(host.status_of("a").at("state").as_string() == "observed");
  CHECK(host.status_of("a").at("limit").to_number<double>() < 1);
}

TEST_CASE("a paused job has its original limits, and comes back as an arrival") {
  Host host;
  run_two(host);
  REQUIRE(host.ask("POST", "/v1/containers/a/pause") == 200);
  CHECK(host.weight("a") == "100");
  host.pass();
  CHECK(host.status_of("a").at("state").as_string() == "paused");
  CHECK(host.weight("b") == "100");  // alone now
  REQUIRE(host.ask("POST", "/v1/containers/a/resume") == 200);
  host.pass();
  CHECK(host.status_of("a").at("state").as_string() == "controlled");
  CHECK(host.weight("a") != host.weight("b"));
}

TEST_CASE("a released job has its original limits, also after a restart") {
  Host host;
  run_two(host);
  REQUIRE(host.ask("POST", "/v1/containers/a/release") == 200);
  CHECK(host.weight("a") == "100");
  host.end();
  host.begin();
  host.pass();
  CHECK(host.status_of("a").is_null());
  CHECK_FALSE(host.status_of("b").is_null());
}

TEST_CASE("limits that a killed flowcond left are put back by the next one") {
  Host host;
  run_two(host);
  REQUIRE(host.weight("a") != "100");
  host.kill();
  host.begin();
  CHECK(host.weight("a") == "100");
  CHECK(host.weight("b") == "100");
}

TEST_CASE("limits stay while one flowcond takes the place of another") {
  Host host;
  run_two(host);
  const std::string before = host.weight("a");
  std::ofstream(host.folder.path() + "/hand-over").close();
  host.end();
  CHECK(host.weight("a") == before);
  host.begin();
  CHECK(host.weight("a") == before);
  host.fs.forget_writes();
  host.pass(0.1);
  CHECK(host.status_of("a").at("state").as_string() == "controlled");
  host.end();
  CHECK(host.weight("a") == "100");
}

TEST_CASE("of a hand-over what does not come back within half a minute is put back") {
  Host host;
  run_two(host);
  std::ofstream(host.folder.path() + "/hand-over").close();
  host.end();
  host.running.erase(Host::id_of("a"));
  host.begin();
  host.pass(0.1);
  CHECK(host.weight("a") != "100");
  host.pass(31);
  CHECK(host.weight("a") == "100");
}

TEST_CASE("a limit that could not be put back at the start is put back half a minute later") {
  Host host;
  run_two(host);
  host.kill();
  host.running.clear();
  host.fs.fail_write(1, EIO);
  host.begin();
  CHECK((host.weight("a") == "100") != (host.weight("b") == "100"));
  host.pass(31);
  CHECK(host.weight("a") == "100");
  CHECK(host.weight("b") == "100");
}

TEST_CASE("another policy of a reloaded configuration divides at the next pass") {
  Host host;
  run_two(host);
  ctrl::Config config = host.config;
  config.policy = "free";
  host.daemon->reload(config);
  host.pass(0.1);
  CHECK(host.status_of("a").at("limit").to_number<double>() == 1);
  CHECK(host.status_of("a").at("reason").as_string() == "free: all compete alike");
  config.policy = "milestone";
  host.daemon->reload(config);
  host.pass(0.1);
  CHECK(host.status_of("a").at("limit").to_number<double>() == 0.5);
}

TEST_CASE("a decision is explained by the policy that made it") {
  Host host;
  run_two(host);
  host.end();
  host.begin();
  host.pass();
  REQUIRE(host.ask("GET", "/v1/containers/a/explain") == 200);
  const boost::json::value said = host.json();
  const boost::json::array& decisions = said.at("decisions").as_array();
  REQUIRE_FALSE(decisions.empty());
  CHECK(decisions.back().at("sentence").as_string().find("rank") == 0);
}

TEST_CASE("an adopted container is under control at once") {
  Host host;
  run_two(host);
  ctrl::engine::Container other = host.running.begin()->second;
  other.name = "c";
  other.id = Host::id_of("c");
  other.labels.clear();
  other.log_path = host.folder.path() + "/" + other.id + "-json.log";
  host.fs.add("docker/" + other.id, test::FakeCgroups::v2_group());
  host.engine->running[other.id] = other;
  REQUIRE(host.ask("POST", "/v1/containers/c/adopt", "{}") == 200);
  host.pass(0.1);
  CHECK(host.status_of("c").at("state").as_string() == "controlled");
  CHECK(host.ask("POST", "/v1/containers/c/adopt", "{}") == 409);
  CHECK(host.ask("POST", "/v1/containers/nobody/adopt", "{}") == 404);
}

TEST_CASE("one that was adopted with no word more is under control after a restart, too") {
  Host host;
  run_two(host);
  host.start("c", {{"flowcon.enable", ""}});
  const std::string id = Host::id_of("c");
  host.running[id].labels.clear();
  host.engine->running[id].labels.clear();
  host.engine->changes.clear();
  REQUIRE(host.ask("POST", "/v1/containers/c/adopt", " \n") == 200);
  host.end();
  host.begin();
  host.pass();
  CHECK(host.status_of("c").at("state").as_string() == "controlled");
}

TEST_CASE("a pinned job has its share until the pin expires") {
  Host host;
  run_two(host);
  REQUIRE(host.ask("POST", "/v1/containers/a/pin", R"({"cpu":"0.9","for":"20"})") == 200);
  host.pass(0.1);
  CHECK(host.status_of("a").at("limit").to_number<double>() == 0.9);
  host.pass(21);
  CHECK(host.status_of("a").at("pinned").is_null());
  CHECK(host.status_of("a").at("limit").to_number<double>() != 0.9);
}

TEST_CASE("a pin and values that were set hold after a restart, until they are taken back") {
  Host host;
  run_two(host);
  REQUIRE(host.ask("POST", "/v1/containers/a/pin", R"({"cpu":"0.9"})") == 200);
  REQUIRE(host.ask("POST", "/v1/containers/b/set", R"({"floor":"0.25"})") == 200);
  host.end();
  host.begin();
  host.pass();
  CHECK(host.status_of("a").at("limit").to_number<double>() == 0.9);
  CHECK(host.status_of("b").at("floor").to_number<double>() == 0.25);
  REQUIRE(host.ask("POST", "/v1/containers/a/unpin") == 200);
  REQUIRE(host.ask("POST", "/v1/containers/b/set", R"({"floor":"none"})") == 200);
  CHECK(host.status_of("a").at("pinned").is_null());
  CHECK(host.status_of("b").at("floor").is_null());
}

TEST_CASE("control of all is suspended and resumed at once") {
  Host host;
  run_two(host);
  REQUIRE(host.ask("POST", "/v1/pause") == 200);
  CHECK(host.said.body == R"({"paused":true})");
  CHECK(host.weight("a") == "100");
  CHECK(host.weight("b") == "100");
  host.pass();
  CHECK(host.status_of("b").at("state").as_string() == "paused");
  REQUIRE(host.ask("POST", "/v1/resume") == 200);
  host.pass();
  CHECK(host.weight("a") != "100");
}

TEST_CASE("a container that is not there is told from one that is not under control") {
  Host host;
  run_two(host);
  host.start("c", {{"flowcon.enable", "false"}});
  host.pass();
  for (const char* call : {"pause", "unpin", "release"}) {
    const std::string all = "/v1/containers/";
    CHECK(host.ask("POST", all + "nobody/" + call) == 404);
    CHECK(host.json().at("error").as_string() == "No such container: nobody");
    CHECK(host.ask("POST", all + "c/" + call) == 404);
    CHECK(host.json().at("error").as_string() ==
          "No such container: c is not under control (docker flowcon adopt c)");
  }
  CHECK(host.ask("GET", "/v1/containers/nobody/history") == 404);
  CHECK(host.json().at("error").as_string() == "No such container: nobody");
}

TEST_CASE("a busy job that prints nothing has a note that says what to try") {
  Host host;
  run_two(host);
  CHECK(host.status_of("a").at("note").as_string().find("no output yet; ") == 0);
  CHECK(host.status_of("a").at("note").as_string().find("buffered") == std::string::npos);
  host.use("a", 1000);
  host.pass();
  host.use("a", 1005);
  host.pass();
  CHECK(host.status_of("a").at("note").as_string().find(
            "no output yet; if it prints, it may be buffered: -e PYTHONUNBUFFERED=1, python -u, "
            "stdbuf -oL, or flowcon.log=FILE; ") == 0);
}

TEST_CASE("twenty idle jobs write less than a hundred lines an hour") {
  Host host;
  host.begin();
  const StandardError error;
  for (char name = 'a'; name < 'a' + 20; ++name) host.start(std::string(1, name));
  for (int i = 0; i < 720; ++i) host.pass();
  const std::string text = error.text();
  CHECK(std::count(text.begin(), text.end(), '\n') < 100);
  CHECK(text.find("limit of a: 100 % -> ") != std::string::npos);
}

TEST_CASE("of labels of an image that do not count the first are told, and how many more") {
  Host host;
  host.begin();
  ctrl::engine::Container container;
  for (int i = 100; i < 130; ++i) container.image_labels["flowcon.a" + std::to_string(i)] = "1";
  host.start("a", {}, container);
  host.pass();
  const boost::json::value job = host.status_of("a");
  const boost::json::array& warnings = job.at("warnings").as_array();
  REQUIRE(warnings.size() == 21);
  CHECK(warnings[19].as_string().find("label flowcon.a119 is ignored") == 0);
  CHECK(warnings[20].as_string() == "and 10 more labels of the image are ignored");
}

TEST_CASE("where memory is short a soft limit leaves room above what a job uses at that tick") {
  Host host;
  host.config.limiting.memory_low = 2;  // always short
  run_two(host);
  const std::string group = "docker/" + Host::id_of("a");
  for (std::uint64_t used = 1U << 20; used < 1ULL << 40; used <<= 4) {
    host.fs.set(group, "memory.current", std::to_string(used));
    host.pass();
    CHECK(host.status_of("a").at("memory").to_number<std::uint64_t>() == used);
    const std::string high = host.fs.text(group, "memory.high");
    CHECK((high == "max" || std::stoull(high) > used));
  }
}

TEST_CASE("after a write that failed in part all that was to be limited counts as it is there") {
  const std::string group = "docker/" + Host::id_of("a");
  for (const bool is_memory_short : {false, true}) {
    Host host;
    host.config.limiting.resources = {ctrl::Resource::cpu, ctrl::Resource::memory};
    host.config.limiting.memory_low = is_memory_short ? 2 : 0;
    host.begin();
    host.start("a", {{"flowcon.ceiling", "0.1"}});
    host.start("b");
    host.fs.refuse(group, "cpu.weight", EINVAL);
    for (int tick = 0; tick < 3; ++tick) host.pass();
    REQUIRE(host.status_of("a").at("note").as_string().find("cpu.weight") != std::string::npos);
    REQUIRE((host.fs.text(group, "memory.high") != "max") == is_memory_short);
    host.fs.set(group, "memory.high", "1048576");
    for (int tick = 0; tick < 3; ++tick) host.pass();
    CHECK((host.fs.text(group, "memory.high") == "1048576") != is_memory_short);
  }
}

TEST_CASE("a soft limit that others set before flowcond's first one is the original") {
  Host host;
  host.config.limiting.resources = {ctrl::Resource::cpu, ctrl::Resource::memory};
  host.config.limiting.memory_low = 0;
  host.begin();
  host.start("a", {{"flowcon.ceiling", "0.1"}});
  host.start("b");
  for (int tick = 0; tick < 3; ++tick) host.pass();
  REQUIRE(host.weight("a") != "100");
  const std::string group = "docker/" + Host::id_of("a");
  host.fs.set(group, "memory.high", "1048576");
  ctrl::Config config = host.config;
  config.limiting.memory_low = 2;  // always short
  host.daemon->reload(config);
  for (int tick = 0; tick < 3; ++tick) host.pass();
  CHECK(host.fs.text(group, "memory.high") == "1048576");
  host.end();
  CHECK(host.fs.text(group, "memory.high") == "1048576");
  CHECK(host.weight("a") == "100");
}

TEST_CASE("control goes on while what is under way comes to its end") {
  Host host;
  run_two(host);
  Traveller::Seen seen;
  host.daemon->extend(std::make_unique<Traveller>(host, seen));
  const std::string ours = host.weight("a");
  std::function<void()> go_on = [&] {
    host.now += 5;
    host.daemon->own_host().apply_limits();
    if (seen.looks < 3) boost::asio::post(*host.io, go_on);
  };
  boost::asio::post(*host.io, go_on);
  host.end();
  CHECK(seen.looks >= 3);
  CHECK(seen.weight == ours);
  CHECK(host.weight("a") == "100");
}

TEST_CASE("what a person had chosen holds where an adopt is refused") {
  Host host;
  run_two(host);
  REQUIRE(host.ask("POST", "/v1/containers/a/release", "") == 200);
  host.pass();
  const std::string id = Host::id_of("a");
  host.running[id].log_driver = "none";
  host.engine->running[id].log_driver = "none";
  CHECK(host.ask("POST", "/v1/containers/a/adopt", "{}") == 422);
  host.end();
  host.begin();
  host.pass();
  CHECK(host.status_of("a").is_null());
}

TEST_CASE("with quotas what one job does not use of its own goes to the other, and comes back") {
  Host host;
  host.config.limiting.mode = cgroups::LimitMode::quota;
  run_two(host);
  const auto quota = [&](const char* name) {
    return std::stoi(host.fs.text("docker/" + Host::id_of(name), "cpu.max"));
  };
  double cpu_of_a = 0, cpu_of_b = 0;
  const auto pass = [&](double share_of_a, double share_of_b) {
    host.use("a", cpu_of_a += share_of_a * 2 * 5);
    host.use("b", cpu_of_b += share_of_b * 2 * 5);
    host.pass();
  };
  pass(0.5, 0.5);
  CHECK(quota("a") == 100000);
  CHECK(quota("b") == 100000);
  for (int i = 0; i < 3; ++i) pass(0.2, 0.5);
  CHECK(quota("a") == 100000);
  CHECK(quota("b") == 160000);
  for (int i = 0; i < 2; ++i) pass(0.5, 0.5);
  CHECK(quota("b") == 100000);
}

TEST_CASE("what a job had goes to the other when its group is gone, though no engine says so") {
  Host host;
  host.config.limiting.mode = cgroups::LimitMode::quota;
  run_two(host);
  for (int tick = 1; tick <= 6; ++tick) {
    if (tick == 4) host.fs.remove("docker/" + Host::id_of("a"));
    if (tick < 4) host.use("a", tick * 5);
    host.use("b", tick * 5);
    host.pass();
  }
  CHECK(host.status_of("a").at("cpu").to_number<double>() == 0);
  const std::string quota = host.fs.text("docker/" + Host::id_of("b"), "cpu.max");
  CHECK((quota.starts_with("max") || std::stoi(quota) > 100000));
}

TEST_CASE("a job whose output ends no line has a note that says so") {
  Host host;
  host.begin();
  host.start("a");
  const std::string path = host.folder.path() + "/" + Host::id_of("a") + "-json.log";
  const std::string record = R"({"log":")" + std::string(16384, 'x') +
                             R"(","stream":"stdout","time":"2033-05-18T03:33:20Z"})"
                             "\n";
  std::ofstream(path, std::ios::app) << record;
  host.pass();
  host.pass();
  CHECK(host.status_of("a").at("note").as_string().find("has no newlines") != std::string::npos);
}
