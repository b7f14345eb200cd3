// SPDX-License-Identifier: Apache-2.0
// Two hosts that move a container from one to the other through the real migrator, on one loop and
// with time that the test turns. For .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/json_reader.h"
#include "cluster/migration/run/world_migrator.h"
#include "ctrl/spawn.h"
#include "tests/cluster/migration/plan/inspected.h"
#include "tests/cluster/migration/run/migrator_fakes.h"

namespace flowcon::cluster::test {

/// Host 1 moves the container "plain" to host 2.
/// Each move waits so long at a step of one side: "source.transfer:60". "": none waits.
inline void hold_at(const std::string& place) {
  ::setenv("FLOWCON_FAILPOINTS", place.empty() ? "" : ("move." + place).c_str(), 1);
}

class TwoHosts {
 public:
  TwoHosts() {
    connect(source, target);
    connect(target, source);
    const auto look = [this] { has_two |= source.engine.runs() && target.engine.runs(); };
    source.engine.on_start_ = target.engine.on_start_ = look;
    put_job();
    start(source);
    start(target);
  }
  ~TwoHosts() {
    hold_at("");
    for (Side* side : {&source, &target}) side->migrator().end();
  }
  TwoHosts(const TwoHosts&) = delete;
  TwoHosts& operator=(const TwoHosts&) = delete;

  struct Side : MigratorHost {
    using MigratorHost::MigratorHost;
    WorldMigrator& migrator() { return *migrators.back(); }
    std::vector<std::unique_ptr<WorldMigrator>> migrators;  ///< the last one lives
    bool is_up = true;
  };

  /// Lets time pass until `is_so`, for so many seconds at most; false where it never was.
  template <class IsSo>
  bool until(IsSo is_so, double most = 3600) {
    const double end = clock.steady() + most;
    for (;;) {
      io.restart();
      while (io.poll() > 0) {
      }
      if (is_so()) return true;
      if (!clock.advance(end)) return false;
    }
  }
  void pass(double seconds) {
    (void)until([] { return false; }, seconds);
  }
  /// Both journals have closed it.
  bool ends(double most = 3600) {
    return until([&] { return is_closed(source) && is_closed(target); }, most);
  }
  /// Begins it; the error's sentence, or "".
  std::string begin(const std::string& move = "") {
    std::string said = "?";
    MoveOrder order;
    order.id = move;
    order.container = "plain";
    order.target = host_id('2');
    auto life = [&]() -> Async<void> {
      const Result<std::string> id = co_await source.migrator().begin(order);
      said = id ? "" : id.error().what;
    };
    ctrl::spawn(io, "test", life);
    (void)until([&] { return said != "?"; });
    return said;
  }
  /// A person's call, "POST keep"; its status.
  unsigned call(Side& side, const std::string& verb) { return answer(side, verb).status; }
  ctrl::api::Response answer(Side& side, const std::string& verb, const std::string& body = "") {
    ctrl::api::Request request;
    request.method = "POST";
    request.target = "/v1/containers/plain/" + verb.substr(verb.find(' ') + 1);
    request.body = body;
    ctrl::api::Response response;
    bool is_answered = false;
    const ctrl::api::Routes routes = side.migrator().routes();
    auto life = [&]() -> Async<void> {
      response = co_await ctrl::api::answer(&routes, std::move(request));
      is_answered = true;
    };
    ctrl::spawn(io, "test", life);
    (void)until([&] { return is_answered; });
    return response;
  }
  /// flowcond of that host is killed: nothing of it goes on.
  void kill(Side& side) {
    side.migrator().end();
    side.is_up = false;
    pass(0);
  }
  void start(Side& side) {
    side.is_up = true;
    side.migrators.push_back(std::make_unique<WorldMigrator>(side.world()));
    ctrl::spawn(io, "start", side.migrator().start());
    pass(0);
  }
  void restart(Side& side) {
    kill(side);
    start(side);
  }
  static bool is_closed(Side& side) {
    const std::string step = side.rows.step();
    return step.empty() || step == "done" || step == "undone";
  }
  /// Where the job runs, and how the journals stand: "2 done done".
  std::string outcome() {
    const std::string where =
        std::string(source.engine.runs() ? "1" : "") + (target.engine.runs() ? "2" : "");
    return (where.empty() ? "-" : where) + " " + source.rows.step() + " " + target.rows.step();
  }

  FakeClock clock{io};  ///< outlives what waits on the loop
  boost::asio::io_context io{1};
  Side source{io, clock, '1', '2'};
  Side target{io, clock, '2', '1'};
  bool is_cut = false;   ///< no word comes through
  bool has_two = false;  ///< two copies were seen to run

 private:
  void connect(Side& from, Side& to) {
    from.network.ask_ = [this, &from, &to](std::string method, std::string path,
                                           std::string body) -> Async<Result<Answer>> {
      if (is_cut || !to.is_up || !from.is_up) co_return bad_input("no connection");
      ctrl::api::Request request;
      request.method = std::move(method);
      request.target = std::move(path);
      ctrl::Pull pull = pull_of(body);
      request.body = std::move(body);
      std::string speaker = from.network.own_id_;
      const ctrl::api::Routes verbs = to.migrator().peer_routes();
      const ctrl::api::Response said = co_await ctrl::api::answer_peer(
          &verbs, std::move(request), std::move(speaker), std::move(pull));
      co_return Answer{said.status, said.body};
    };
    from.goods.carry_ = [this, &from, &to](std::string method, std::string path,
                                           ctrl::Pull body) -> Async<Result<Answer>> {
      if (is_cut || !to.is_up || !from.is_up) co_return errno_error(EPIPE, "no connection");
      ctrl::api::Request request;
      request.method = std::move(method);
      request.target = std::move(path);
      std::string speaker = from.network.own_id_;
      const ctrl::api::Routes verbs = to.migrator().peer_routes();
      const ctrl::api::Response said = co_await ctrl::api::answer_peer(
          &verbs, std::move(request), std::move(speaker), std::move(body));
      co_return Answer{said.status, said.body};
    };
  }
  void put_job() {
    Inspected inspected("20.10-plain");
    inspected.config()["Labels"] =
        boost::json::object{{"flowcon.migrate", "app"}, {"flowcon.checkpoint.path", "/ckpt"}};
    inspected.host()["RestartPolicy"] =
        boost::json::object{{"Name", "unless-stopped"}, {"MaximumRetryCount", 0}};
    Box box;
    box.id = text_of(inspected.value, "Id");
    box.name = "plain";
    box.copy = Copy::running;
    box.lives = 1;
    box.policy = inspected.host()["RestartPolicy"].as_object();
    box.labels = {{"flowcon.migrate", "app"}, {"flowcon.checkpoint.path", "/ckpt"}};
    source.goods.images_.insert(text_of(inspected.value, "Image"));
    source.engine.inspect_ = inspected.value;
    source.engine.boxes_[box.id] = box;
  }
};

}  // namespace flowcon::cluster::test
