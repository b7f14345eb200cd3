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
                                  std::string image) override;
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

  TwoQueues();
  ~TwoQueues();
  TwoQueues(const TwoQueues&) = delete;
  TwoQueues& operator=(const TwoQueues&) = delete;

  static void offer(Side& side, double cores, double gibibytes);
  void start(Side& side);
  void kill(Side& side);

  void poll();
  void run(double seconds);
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
                     std::map<std::string, std::string> labels = {});
  boost::json::value job(const std::string& name);
  boost::json::value call(const std::string& method, const std::string& target,
                          const std::string& body = "{}");
  std::string state(const std::string& name) { return text_of(job(name), "state"); }
  bool comes_to(const std::string& name, const std::string& wanted, double most = 300);
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
  bool is_deaf(const Side& from, const Side& to) const;
  void connect(Side& from, Side& to);
};

}  // namespace flowcon::cluster::test
