// SPDX-License-Identifier: Apache-2.0
// A daemon on a clock, an engine and control groups of the test's own; its store is a real one. For
// .cpp files only: it includes Asio.
#pragma once

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/json.h"
#include "ctrl/daemon/daemon_state.h"
#include "tests/support/catch.h"
#include "tests/support/fake_cgroups.h"
#include "tests/support/fake_daemon.h"

namespace flowcon::test {

/// What an engine would tell.
class FakeContainers : public ctrl::Containers {
 public:
  void start() override { status_.is_reachable = true; }
  void stop() override {}
  [[nodiscard]] std::vector<ctrl::Change> take() override { return std::exchange(changes, {}); }
  [[nodiscard]] bool has_changes() const override { return !changes.empty(); }
  [[nodiscard]] const ctrl::EngineStatus& engine() const override { return status_; }
  [[nodiscard]] std::string problem() const override { return ""; }
  Async<Result<ctrl::engine::Container>> inspect(std::string name) override {
    for (const auto& [id, container] : running) {
      if (container.name == name) co_return container;
    }
    co_return errno_error(ENOENT, "no such container");
  }

  std::vector<ctrl::Change> changes;
  std::map<std::string, ctrl::engine::Container> running;  ///< by id

 private:
  ctrl::EngineStatus status_;
};

/// Control groups of several daemons, one after the other: they outlive each of them.
class SharedCgroups : public cgroups::CgroupFs {
 public:
  explicit SharedCgroups(FakeCgroups& fs) : fs_(fs) {}
  cgroups::Mode mode() const override { return fs_.mode(); }
  bool is_v2(const std::string& controller) const override { return fs_.is_v2(controller); }
  Result<std::string> read(const std::string& controller, const std::string& group,
                           const std::string& file) const override {
    return fs_.read(controller, group, file);
  }
  Result<void> write(const std::string& controller, const std::string& group,
                     const std::string& file, const std::string& value) override {
    return fs_.write(controller, group, file, value);
  }
  bool exists(const std::string& controller, const std::string& group) const override {
    return fs_.exists(controller, group);
  }
  std::string life(const std::string& controller, const std::string& group) const override {
    return fs_.life(controller, group);
  }

 private:
  FakeCgroups& fs_;
};

/// The host that daemons run on, one at a time.
class Host {
 public:
  Host() {
    config.state_dir = folder.path();
    config.policy = "milestone";
    config.cores = 2;
  }
  ~Host() {
    if (daemon) end();
  }

  void begin() {
    std::string notice;
    auto store = ctrl::store::Store::open(folder.path() + "/flowcon.db", &notice);
    REQUIRE(store.has_value());
    ctrl::World world;
    world.clock = [this] { return ctrl::Moment{1e9 + now, now}; };
    world.containers = [this](std::function<void()>) {
      auto made = std::make_unique<FakeContainers>();
      engine = made.get();
      // An engine lists what runs to whoever comes.
      for (const auto& [id, container] : running) {
        engine->running[id] = container;
        engine->changes.push_back({ctrl::Change::Kind::started, container, 0, {}});
      }
      return made;
    };
    world.find_group = [this](std::int64_t, const std::string& id) -> Result<cgroups::Group> {
      const std::string group = "docker/" + id;
      return cgroups::Group{group, group, group, scope, has_io ? group : ""};
    };
    world.fs = std::make_unique<SharedCgroups>(fs);
    world.store = std::move(*store);
    daemon = std::make_unique<ctrl::Daemon>(*io, config, std::move(world));
    wait(daemon->begin());
  }

  /// Ends as flowcond does: limits are put back, records are written.
  void end() {
    daemon->stop();
    wait(daemon->release_all());
    daemon.reset();
  }

  /// Ends as by SIGKILL: nothing is put back, and nothing of it runs on.
  void kill() {
    daemon->effects().finish();
    // What its coroutines wait for never comes; they go when the process does.
    using Killed = std::vector<std::pair<ctrl::Daemon*, boost::asio::io_context*>>;
    static Killed* const killed = new Killed;
    killed->emplace_back(daemon.release(), io.release());
    io = std::make_unique<boost::asio::io_context>(1);
  }

  /// A container that controls itself by its label.
  void start(const std::string& name, std::map<std::string, std::string> labels = {},
             ctrl::engine::Container container = {}) {
    container.name = name;
    container.id = id_of(name);
    container.image = "trainings";
    container.pid = 1;
    container.running = true;
    container.started = 1e9 + now;
    container.log_driver = "json-file";
    container.log_path = folder.path() + "/" + container.id + "-json.log";
    std::ofstream(container.log_path).close();
    container.labels = std::move(labels);
    container.labels.emplace("flowcon.enable", "true");
    running[container.id] = container;
    fs.add("docker/" + container.id, FakeCgroups::v2_group());
    if (!daemon) return;
    engine->running[container.id] = container;
    engine->changes.push_back({ctrl::Change::Kind::started, container, 0, {}});
  }

  /// It ends by itself; its group goes with it.
  void stop(const std::string& name, int status = 0) {
    const std::string id = id_of(name);
    fs.remove("docker/" + id);
    running.erase(id);
    engine->running.erase(id);
    ctrl::Change change;
    change.kind = ctrl::Change::Kind::finished;
    change.container.id = id;
    change.exit_status = status;
    engine->changes.push_back(change);
  }

  /// docker pause, and unpause.
  void freeze(const std::string& name, bool is_frozen) {
    ctrl::engine::Container& container = running.at(id_of(name));
    container.is_frozen = is_frozen;
    engine->running[container.id] = container;
    engine->changes.push_back({ctrl::Change::Kind::updated, container, 0, {}});
  }

  /// `seconds` later, once around the loop.
  void pass(double seconds = 5) {
    now += seconds;
    wait(daemon->pass());
  }

  void use(const std::string& name, double cpu_seconds) {
    fs.set("docker/" + id_of(name), "cpu.stat",
           "usage_usec " + std::to_string(static_cast<long>(cpu_seconds * 1e6)) + "\nuser_usec 0");
  }
  [[nodiscard]] std::string weight(const std::string& name) const {
    return fs.text("docker/" + id_of(name), "cpu.weight");
  }

  unsigned ask(const std::string& method, const std::string& target, const std::string& body = "") {
    ctrl::api::Request request;
    request.method = method;
    request.target = target;
    request.body = body;
    auto answer = [this, request]() -> Async<void> {
      ctrl::api::Request asked = request;
      said = co_await ctrl::api::answer(&daemon->routes(), std::move(asked));
    };
    wait(answer());
    return said.status;
  }
  /// Of the last answer.
  [[nodiscard]] boost::json::value json() const { return *parse_json(said.body); }
  [[nodiscard]] boost::json::value status_of(const std::string& name) {
    REQUIRE(ask("GET", "/v1/status") == 200);
    const boost::json::value status = json();
    for (const boost::json::value& one : status.at("containers").as_array()) {
      if (one.at("name").as_string() == name) return one;
    }
    return nullptr;
  }

  static std::string id_of(const std::string& name) { return std::string(63, '0') + name; }

  TempFolder folder;
  ctrl::Config config;
  FakeCgroups fs{cgroups::Mode::v2};
  std::string scope;    ///< systemd's, of all containers
  bool has_io = false;  ///< block I/O of containers is limited and counted
  std::unique_ptr<boost::asio::io_context> io = std::make_unique<boost::asio::io_context>(1);
  double now = 1000;  ///< steady; the epoch was 1e9 seconds before 0
  std::map<std::string, ctrl::engine::Container> running;
  FakeContainers* engine = nullptr;
  std::unique_ptr<ctrl::Daemon> daemon;
  ctrl::api::Response said;

 private:
  // A helper thread may have the next word; the limit is for one that hangs.
  void wait(Async<void> work) {
    bool is_done = false;
    boost::asio::co_spawn(*io, std::move(work), [&](std::exception_ptr failure) {
      is_done = true;
      if (failure) std::rethrow_exception(failure);
    });
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    io->restart();
    while (!is_done) {
      if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("it hangs");
      io->run_one_for(std::chrono::seconds(1));
      if (io->stopped()) io->restart();
    }
  }
};

/// What goes to stderr while it lives.
class StandardError {
 public:
  StandardError() : kept_(::dup(STDERR_FILENO)), file_(std::tmpfile()) {
    ::dup2(::fileno(file_), STDERR_FILENO);
  }
  ~StandardError() {
    ::dup2(kept_, STDERR_FILENO);
    ::close(kept_);
    std::fclose(file_);
  }
  StandardError(const StandardError&) = delete;
  StandardError& operator=(const StandardError&) = delete;
  [[nodiscard]] std::string text() const {
    std::string all(1 << 20, '\0');
    std::rewind(file_);
    all.resize(std::fread(all.data(), 1, all.size(), file_));
    return all;
  }

 private:
  int kept_;
  std::FILE* file_;
};

/// Two jobs, of which the second one has four times the weight.
inline void run_two(Host& host) {
  host.begin();
  host.start("a");
  host.pass();
  host.start("b", {{"flowcon.weight", "4"}});
  host.pass();
  host.pass();
}

}  // namespace flowcon::test
