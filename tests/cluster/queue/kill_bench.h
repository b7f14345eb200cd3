// SPDX-License-Identifier: Apache-2.0
// A host whose flowcond is killed wherever it waits for its journal or its engine, and starts again
// over the same rows and the same containers, or does not hear the answer. For .cpp files only: it
// includes Asio.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ctrl/log.h"
#include "tests/cluster/queue/queue_fakes.h"

namespace flowcon::cluster::test {
/// What becomes of the request whose answer flowcond does not hear.
enum class Fate {
  never,   ///< it is not carried out
  before,  ///< it was
  late,    ///< it is, some time later
};

/// Strikes at the `at`-th time that flowcond waits.
struct Killer {
  int at = 0;              ///< from 1; 0: not at all
  bool is_killing = true;  ///< flowcond dies; else the answer alone is lost
  Fate fate = Fate::never;
  int waits = 0;
  bool has_killed = false;
  std::function<void()> kill;

  bool strikes() {
    if (++waits != at) return false;
    has_killed = is_killing;
    if (is_killing) kill();
    return true;
  }
};

inline constexpr double kLate = 5;  // seconds
inline constexpr double kNever = 1e9;

using Request = std::function<Async<Result<void>>()>;

class KillEngine : public QueueEngine {
 public:
  KillEngine(boost::asio::io_context& io, Clock& clock, Killer& killer)
      : QueueEngine(clock), io_(io), time_(clock), killer_(killer) {}

  Async<Result<Seen>> look(std::string name) override {
    if (killer_.strikes()) {
      if (killer_.is_killing) co_await time_.pause(kNever);
      co_return errno_error(ETIMEDOUT, "looking");
    }
    co_return co_await QueueEngine::look(std::move(name));
  }
  Async<Result<void>> start(std::string container, std::string checkpoint) override {
    if (std::exchange(loses_start_, false)) return silence();
    return ask([this, container, checkpoint]() -> Async<Result<void>> {
      if (!boxes_.contains(container) || runs(container)) return nothing();
      return QueueEngine::start(container, checkpoint);
    });
  }
  Async<Result<void>> stop(std::string container) override {
    return ask([this, container]() -> Async<Result<void>> {
      if (!boxes_.contains(container) || !runs(container)) return nothing();
      tell("kill", container);
      return QueueEngine::stop(container);
    });
  }
  Async<Result<void>> kill(std::string container, int signal) override {
    return ask([this, container, signal]() -> Async<Result<void>> {
      if (!boxes_.contains(container) || !runs(container)) return refusal();
      tell("kill", container);
      return QueueEngine::kill(container, signal);
    });
  }
  Async<Result<void>> remove(std::string container) override {
    return ask([this, container] { return QueueEngine::remove(container); });
  }
  using QueueEngine::create;
  Async<Result<std::string>> create(std::string name, boost::json::object body,
                                    std::string image) override {
    const auto made = std::make_shared<Result<std::string>>(std::string());
    Request request = [this, made, name, body, image] { return make_one(made, name, body, image); };
    const Result<void> asked = co_await ask(std::move(request));
    if (!asked) co_return asked.error();
    co_return *made;
  }

  bool loses_start_ = false;  ///< the next one is neither carried out nor answered

 private:
  static Async<Result<void>> nothing() { co_return Result<void>(); }
  static Async<Result<void>> silence() { co_return errno_error(ETIMEDOUT, "starting it"); }
  static Async<Result<void>> refusal() { co_return bad_input("it is not running"); }

  Async<Result<void>> make_one(std::shared_ptr<Result<std::string>> made, std::string name,
                               boost::json::object body, std::string image) {
    *made = co_await QueueEngine::create(std::move(name), std::move(body), std::move(image));
    if (!*made) co_return made->error();
    co_return Result<void>();
  }
  Async<Result<void>> ask(Request request) {
    if (!killer_.strikes()) co_return co_await request();
    if (killer_.fate == Fate::before) (void)co_await request();
    if (killer_.fate == Fate::late) ctrl::spawn(io_, "late", carry_out_late(std::move(request)));
    if (killer_.is_killing) co_await time_.pause(kNever);
    co_return errno_error(ETIMEDOUT, "asking the engine");
  }
  Async<void> carry_out_late(Request request) {
    co_await time_.pause(kLate);
    (void)co_await request();
  }

  boost::asio::io_context& io_;
  Clock& time_;
  Killer& killer_;
};

/// What is not on the disk at once never is: a process that is dead writes nothing. As with a file
/// that is in use, the error has no code.
class KillRows : public QueueFakeRows {
 public:
  KillRows(Clock& clock, Killer& killer) : time_(clock), killer_(killer) {}
  Async<Result<void>> save(ctrl::store::QueueRow row) override {
    if (!killer_.strikes()) co_return co_await QueueFakeRows::save(std::move(row));
    if (killer_.fate != Fate::never) (void)co_await QueueFakeRows::save(std::move(row));
    if (killer_.is_killing) co_await time_.pause(kNever);
    co_return bad_input("writing the journal: database is locked");
  }

 private:
  Clock& time_;
  Killer& killer_;
};

struct KillBench {
  explicit KillBench(Killer with) : killer(std::move(with)) {
    ctrl::log::set_level(ctrl::log::Level::warning);
    killer.kill = [this] { queue->end(); };
    host.view_.cores = 4;
    host.view_.memory = 10 * kGiB;
    begin();
  }
  ~KillBench() {
    killer.at = 0;
    queue->end();
    do poll();
    while (clock.advance(1e12));
    ctrl::log::set_level(ctrl::log::Level::info);
  }
  KillBench(const KillBench&) = delete;
  KillBench& operator=(const KillBench&) = delete;

  void begin() {
    queue = std::make_unique<queue::Queue>(queue::World{
        host, engine, clock, rows, network, moves,
        [](const ctrl::estimate::Command&) { return std::vector<ctrl::estimate::LabelEstimate>(); },
        [] { return std::uint64_t{1}; }, [] { return 0.0; }});
    ctrl::spawn(io, "queue", queue->begin());
  }
  void poll() {
    io.restart();
    io.poll();
    if (!std::exchange(killer.has_killed, false)) return;
    former.push_back(std::move(queue));
    begin();
    io.poll();
  }
  void run(double seconds) {
    for (const double end = clock.steady() + seconds; clock.steady() < end;) {
      poll();
      queue->look();
      poll();
      const double until = clock.steady() + 0.5;
      while (clock.advance(until)) poll();
    }
    poll();
  }
  void ask(const std::string& verb) {
    ctrl::api::Request request;
    request.method = "POST";
    request.target = "/v1/queue/vae/" + verb;
    request.body = "{}";
    ctrl::spawn(io, "call", answer(queue->routes(), std::move(request)));
    run(1);
  }
  static Async<void> answer(ctrl::api::Routes routes, ctrl::api::Request request) {
    (void)co_await ctrl::api::answer(&routes, std::move(request));
  }
  std::string submit(std::map<std::string, std::string> labels) {
    labels["flowcon.request"] = "cpu=1,mem=1G";
    return engine.create("vae", labels);
  }
  [[nodiscard]] std::string state() const {
    if (rows.rows_.empty()) return "";
    const Result<queue::JobEntry> entry = queue::parse_entry(rows.rows_.begin()->second.entry);
    return entry ? name(entry->state) : "?";
  }
  /// A person who got no answer asks again.
  void insist(const std::string& verb, const std::function<bool()>& is_done) {
    for (int tries = 0; tries < 3 && !is_done(); ++tries) {
      ask(verb);
      run(50);
    }
  }

  Killer killer;
  boost::asio::io_context io;
  QueueHost host{io};
  FakeClock clock{io};
  KillEngine engine{io, clock, killer};
  KillRows rows{clock, killer};
  FakeNetwork network;
  FakeMoves moves;
  std::vector<std::unique_ptr<queue::Queue>> former;
  std::unique_ptr<queue::Queue> queue;
};

/// Runs `scenario` with a fault at each wait in turn, until one comes to its end
/// without.
inline void at_each_wait(const std::function<void(KillBench& bench)>& scenario) {
  Killer killer;
  killer.is_killing = GENERATE(true, false);
  killer.fate = GENERATE(Fate::never, Fate::before, Fate::late);
  int faults = 0;
  for (killer.at = 1; killer.at < 600; ++killer.at) {
    INFO((killer.is_killing ? "killed" : "unheard")
         << " at wait " << killer.at << ", its request " << static_cast<int>(killer.fate));
    KillBench bench(killer);
    scenario(bench);
    if (bench.killer.waits < killer.at) break;
    ++faults;
  }
  CHECK(faults >= 6);
  CHECK(faults < 590);
}

}  // namespace flowcon::cluster::test
