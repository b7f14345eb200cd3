// SPDX-License-Identifier: Apache-2.0
// What comes and goes with a container that moves between hosts: what was recorded and decided,
// what it used and achieved there, and what it printed where its engine here has no place for that.
// For .cpp files only: it includes Asio.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "ctrl/api/routes.h"
#include "ctrl/async.h"
#include "ctrl/codec/past_json.h"
#include "ctrl/daemon/absences.h"
#include "ctrl/daemon/controls.h"
#include "ctrl/daemon/log_follower.h"
#include "ctrl/daemon/recorder.h"
#include "ctrl/daemon/roster.h"
#include "ctrl/daemon/world.h"
#include "ctrl/effects.h"
#include "ctrl/history_bundle.h"

namespace flowcon::ctrl {

/// Where what a container printed on earlier hosts is kept.
[[nodiscard]] std::string carried_log_path(const std::string& state_dir, const std::string& id);

class CarryOver {
 public:
  /// All have to outlive it.
  CarryOver(const World& world, Effects& effects, const Roster& roster, Recorder& recorder,
            Controls& controls, LogFollower& logs, std::string state_dir)
      : world_(world),
        effects_(effects),
        roster_(roster),
        recorder_(recorder),
        controls_(controls),
        logs_(logs),
        state_dir_(std::move(state_dir)) {}

  /// Reads what was kept; once, before all others. Errors: the store's.
  Async<Result<void>> read();
  /// By the container's next start, and no other: what came between is not known.
  void take_up(Job& job);
  /// Of a job that has ended here, for the host that it goes to, or for this one, where the move is
  /// undone. `is_moving`: whose must not be dropped where there are too many.
  void keep(const Job& job, const std::function<bool(const std::string&)>& is_moving);
  void drop(const std::string& id);

  /// As LocalHost.
  Async<Result<std::string>> export_history(std::string id, std::string host);
  Async<Result<void>> import_history(std::string id, std::string bundle, std::string log_path);
  Async<Result<void>> forget_history(std::string id);

  /// Whole lines of what a container printed on earlier hosts, as docs/api.md has it.
  Async<api::Response> log_of(Containers* containers, api::Call call);
  /// Forgets those of containers that the engine has not known for a day.
  Async<void> forget_logs(Containers* containers);

 private:
  void save(const std::string& id, const Past& past);
  void post(std::function<Result<void>()> write);
  Async<void> await_recorded(std::string id);

  const World& world_;
  Effects& effects_;
  const Roster& roster_;
  Recorder& recorder_;
  Controls& controls_;
  LogFollower& logs_;
  std::string state_dir_;
  std::map<std::string, Past> pasts_;  // by id; `started` is 0 until a start here takes it up
  Absences absences_;
};

}  // namespace flowcon::ctrl
