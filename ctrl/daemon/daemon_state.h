// SPDX-License-Identifier: Apache-2.0
// The daemon: its parts, each with state of its own, and the loop that drives them (daemon.cpp;
// decide.cpp what each job gets). For .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ctrl/api/routes.h"
#include "ctrl/config.h"
#include "ctrl/daemon/carry_over.h"
#include "ctrl/daemon/commands.h"
#include "ctrl/daemon/controls.h"
#include "ctrl/daemon/enforcer.h"
#include "ctrl/daemon/intake.h"
#include "ctrl/daemon/log_follower.h"
#include "ctrl/daemon/meter.h"
#include "ctrl/daemon/notifier.h"
#include "ctrl/daemon/own_host.h"
#include "ctrl/daemon/planning.h"
#include "ctrl/daemon/recorder.h"
#include "ctrl/daemon/records.h"
#include "ctrl/daemon/release.h"
#include "ctrl/daemon/roster.h"
#include "ctrl/daemon/schedule.h"
#include "ctrl/daemon/snapshot.h"
#include "ctrl/daemon/takeover.h"
#include "ctrl/daemon/world.h"
#include "ctrl/effects.h"
#include "ctrl/extension.h"
#include "ctrl/mutex.h"

namespace flowcon::ctrl {

class Daemon {
 public:
  Daemon(boost::asio::io_context& io, const Config& config, World world);

  /// The whole life: begin(), a pass whenever something is due, release_all().
  Async<void> run();
  /// Undoes leftovers and begins to watch.
  Async<void> begin();
  /// Once around the loop.
  Async<void> pass();
  /// Puts every limit back, but those that are left to the flowcond that follows.
  Async<void> release_all();
  void stop();
  /// What docs/api.md has, the extension's rows among it.
  [[nodiscard]] const api::Routes& routes() const { return answers_.routes; }
  /// Answers a call of people: the extension may, else this host does.
  Async<api::Response> answer_people(api::Request request);
  /// What is shown of it, until the next change.
  [[nodiscard]] Snapshot snapshot() const;
  /// Takes a new configuration; what cannot change while it runs is told and left as it is.
  void reload(const Result<Config>& config);
  /// What runs beside it; before run().
  void extend(std::unique_ptr<Extension> extension);

  [[nodiscard]] const Config& config() const { return config_; }
  /// As its extension knows it.
  [[nodiscard]] OwnHost& own_host() { return own_host_; }
  Effects& effects() { return effects_; }

 private:
  Async<void> wait();
  Async<void> read_state();
  Async<void> read_trainings();
  Async<void> take_over(Moment now);
  Async<void> restore_leftovers();
  Async<void> begin_again();
  Async<void> settle();
  Async<void> settle_extension();
  void record(Moment now, bool is_decided);

  // decide.cpp
  void look(Moment now);
  void find_drift(Job& job);
  void follow_tracks(Moment now);
  void decide(Moment now);
  Async<void> apply(Moment now);

  boost::asio::io_context& io_;
  Config config_;
  Host host_;
  World world_;
  Effects effects_;
  Roster roster_;
  Schedule schedule_;
  std::unique_ptr<Containers> containers_;
  std::unique_ptr<Extension> extension_;
  Planning planning_;
  Meter meter_;
  Notifier notifier_;
  Recorder recorder_;
  Controls controls_;
  LogFollower logs_;
  CarryOver carry_over_;
  Shown shown_;
  Takeover takeover_;
  Enforcer enforcer_;
  Intake intake_;
  Mutex pass_;  ///< one pass of the loop or one command at a time
  /// What calls are answered by.
  struct Answers {
    Commands commands;
    RecordReader records;
    api::Routes routes;
  };
  Answers answers_;
  OwnHost own_host_;
  Release release_;
  bool is_stopping_ = false;
};

}  // namespace flowcon::ctrl
