// SPDX-License-Identifier: Apache-2.0
// Two hosts with queues and migrators on one loop, whose time the test turns: h1 has room and
// coordinates, h2 has the jobs and no room. For .cpp files only: it includes Asio.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/migration/run/world_migrator.h"
#include "ctrl/log.h"
#include "tests/cluster/queue/queue_fakes.h"

namespace flowcon::cluster::test {

/// Errors alone are logged while it is there.
struct Quiet {
  Quiet() { ctrl::log::set_level(ctrl::log::Level::error); }
  ~Quiet() { ctrl::log::set_level(ctrl::log::Level::info); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
};

/// What the migrator makes has the labels of its plan.
class TaskEngine : public QueueEngine {
 public:
  using QueueEngine::QueueEngine;
  Async<Result<std::string>> make(std::string name, Plan plan, std::string id,
                                  std::string image) override {
    const boost::json::object labels = object_of(plan.body, "Labels");
    const boost::json::value host_config = member(plan.body, "HostConfig");
    std::string called = name;
    Result<std::string> made = co_await FakeEngine::make(std::move(name), std::move(plan),
                                                         std::move(id), std::move(image));
    Box& box = boxes_.at(*made);
    for (const auto& [label, value] : labels) box.labels[label] = std::string(value.get_string());
    inspects_[*made] = inspect_of(*made, called);
    inspects_[*made]["HostConfig"].as_object()["DeviceRequests"] =
        member(host_config, "DeviceRequests");
    tell("create", *made);
    co_return made;
  }
};

class TwoQueues {
 public:
  struct Side {
    Side(boost::asio::io_context& io, FakeClock& the_clock, char digit, char other)
        : clock(the_clock), host(io), engine(clock), files(clock) {
      host.view_.name = std::string("h") + digit;
      host.config_.state_dir = host.folder_.path();
      network.own_id_ = host_id(digit);
      network.own_name_ = host.view_.name;
      peers::State& told = *network.add(std::string("h") + other, other, {}).state;
      told.runs_jobs = true;
      told.cores = 4;
      told.memory = std::int64_t{10} << 30;
    }
    migration::World world() { return {host, network, lives, engine, goods, files, rows, clock}; }
    [[nodiscard]] const Box* task() const {
      for (const auto& [id, box] : engine.boxes_) {
        if (box.labels.contains(ctrl::kMovedLabel)) return &box;
      }
      return nullptr;
    }

    FakeClock& clock;
    QueueHost host;
    FakeLink network;
    TaskEngine engine;
    FakeGoods goods;
    FakeFiles files;
    FakeRows rows;
    FakeLives lives;
    QueueFakeRows jobs;
    std::vector<std::unique_ptr<migration::WorldMigrator>> migrators;  ///< the last one lives
    std::vector<std::unique_ptr<queue::Queue>> queues;
    bool is_up = false;
  };

  TwoQueues() {
    offer(h1, 4, 8);
    offer(h2, 4, 1);
    connect(h1, h2);
    connect(h2, h1);
    h2.goods.images_.insert("sha256:" + std::string(64, 'e'));
    start(h1);
    start(h2);
    run(3);
  }
  ~TwoQueues() {
    for (Side* side : {&h1, &h2}) kill(*side);
    do poll();
    while (clock.advance(1e12));
  }
  TwoQueues(const TwoQueues&) = delete;
  TwoQueues& operator=(const TwoQueues&) = delete;

  static void offer(Side& side, double cores, double gibibytes) {
    side.host.view_.cores = cores;
    side.host.config_.queue.offer.cpu = cores;
    side.host.config_.queue.offer.mem = gibibytes * kGiB;
  }
  void start(Side& side) {
    side.is_up = true;
    side.migrators.push_back(std::make_unique<migration::WorldMigrator>(side.world()));
    migration::WorldMigrator& migrator = *side.migrators.back();
    side.queues.push_back(std::make_unique<queue::Queue>(queue::World{
        side.host, side.engine, clock, side.jobs, side.network, migrator,
        [](const ctrl::estimate::Command&) { return std::vector<ctrl::estimate::LabelEstimate>(); },
        [] { return std::uint64_t{1}; }, [] { return 0.0; }}));
    queue::Queue& queue = *side.queues.back();
    migrator.tell_of_tasks([&queue](const std::string& id) { queue.hear_of_move(id); });
    migrator.judge_room(
        [&queue](const policy::Amounts& asked) { return queue.why_no_room(asked); });
    migrator.choose_gpus([&queue](boost::json::object& body, const Passage& birth) {
      return queue.give_gpus(body, birth);
    });
    // As at a real start: the journal of moves is read later.
    ctrl::spawn(io, "queue", queue.begin());
    ctrl::spawn(io, "migrator", migrator.start());
  }
  void kill(Side& side) {
    if (!side.is_up) return;
    side.is_up = false;
    side.migrators.back()->end();
    side.queues.back()->end();
  }

  void poll() {
    io.restart();
    while (io.poll() > 0) {
    }
  }
  void run(double seconds) {
    const double end = clock.steady() + seconds;
    while (clock.steady() < end) {
      poll();
      for (Side* side : {&h1, &h2}) {
        if (side->is_up) side->queues.back()->look();
      }
      poll();
      const double until = std::min(end, clock.steady() + 0.5);
      while (clock.advance(until)) poll();
    }
    poll();
  }
  template <class IsSo>
  bool until(IsSo is_so, double most = 300) {
    for (double waited = 0; waited < most; waited += 0.5) {
      if (is_so()) return true;
      run(0.5);
    }
    return is_so();
  }

  /// Created on h2; it asks for one core and so much memory.
  std::string submit(const std::string& name, double gibibytes,
                     std::map<std::string, std::string> labels = {}) {
    labels["flowcon.queue"] = "true";
    labels["flowcon.request"] = "cpu=1,mem=" + std::to_string(static_cast<int>(gibibytes)) + "G";
    return h2.engine.create(name, labels);
  }
  boost::json::value job(const std::string& name) {
    return call("GET", "/v1/queue/" + name + "?decisions=1");
  }
  boost::json::value call(const std::string& method, const std::string& target,
                          const std::string& body = "{}") {
    const auto answered = std::make_shared<QueueBench::Answered>();
    ctrl::api::Request request;
    request.method = method;
    request.target = target;
    request.body = body;
    ctrl::spawn(io, "call",
                QueueBench::answer(h2.queues.back()->routes(), std::move(request), answered));
    poll();
    run(0.1);
    return answered->body;
  }
  std::string state(const std::string& name) { return text_of(job(name), "state"); }
  bool comes_to(const std::string& name, const std::string& wanted, double most = 300) {
    return until([&] { return state(name) == wanted; }, most);
  }
  bool runs_there() const { return h1.task() != nullptr && h1.task()->copy == Copy::running; }
  void end_task(std::int64_t status) { h1.engine.end_with(h1.task()->id, status); }

  boost::asio::io_context io;
  FakeClock clock{io};
  Side h1{io, clock, '1', '2'};
  Side h2{io, clock, '2', '1'};
  bool is_cut = false;       ///< no word comes through
  bool is_mute = false;      ///< nor any from h2
  double image_seconds = 0;  ///< that an image takes from one to the other

 private:
  bool is_deaf(const Side& from, const Side& to) const {
    return is_cut || (is_mute && &from == &h2) || !from.is_up || !to.is_up;
  }
  void connect(Side& from, Side& to) {
    from.network.ask_ = [this, &from, &to](std::string method, std::string path,
                                           std::string body) -> Async<Result<Answer>> {
      if (is_deaf(from, to)) co_return errno_error(ETIMEDOUT, "no connection");
      ctrl::api::Request request;
      request.method = std::move(method);
      request.target = std::move(path);
      std::string speaker = from.network.own_id_;
      ctrl::Pull pull = pull_of(body);
      request.body = std::move(body);
      ctrl::api::Routes verbs = to.queues.back()->peer_routes();
      for (ctrl::api::Route& row : to.migrators.back()->peer_routes()) {
        verbs.push_back(std::move(row));
      }
      const ctrl::api::Response said = co_await ctrl::api::answer_peer(
          &verbs, std::move(request), std::move(speaker), std::move(pull));
      // Who has died meanwhile hears nothing.
      if (is_deaf(from, to)) co_return errno_error(ETIMEDOUT, "no connection");
      co_return Answer{said.status, said.body};
    };
    from.goods.carry_ = [this, &from, &to](std::string method, std::string path,
                                           ctrl::Pull body) -> Async<Result<Answer>> {
      if (is_deaf(from, to)) co_return errno_error(EPIPE, "no connection");
      if (path.ends_with("/image")) co_await clock.pause(image_seconds);
      ctrl::api::Request request;
      request.method = std::move(method);
      request.target = std::move(path);
      std::string speaker = from.network.own_id_;
      const ctrl::api::Routes verbs = to.migrators.back()->peer_routes();
      const ctrl::api::Response said = co_await ctrl::api::answer_peer(
          &verbs, std::move(request), std::move(speaker), std::move(body));
      co_return Answer{said.status, said.body};
    };
  }
};

}  // namespace flowcon::cluster::test
