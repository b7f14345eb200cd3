// SPDX-License-Identifier: Apache-2.0
// Who is there: containers come under control and leave it, are frozen, paused, given new limits
// by others, and end. For .cpp files only: it includes Asio.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ctrl/async.h"
#include "ctrl/daemon/carry_over.h"
#include "ctrl/daemon/controls.h"
#include "ctrl/daemon/log_follower.h"
#include "ctrl/daemon/meter.h"
#include "ctrl/daemon/planning.h"
#include "ctrl/daemon/recorder.h"
#include "ctrl/daemon/roster.h"
#include "ctrl/daemon/schedule.h"
#include "ctrl/daemon/takeover.h"
#include "ctrl/daemon/world.h"
#include "ctrl/effects.h"
#include "ctrl/extension.h"
#include "ctrl/limits.h"

namespace flowcon::ctrl {

class Intake {
 public:
  /// What it works with; all have to outlive it.
  struct Parts {
    const World& world;
    const Host& host;
    Effects& effects;
    Limits& limits;
    Roster& roster;
    Schedule& schedule;
    Controls& controls;
    CarryOver& carry_over;
    LogFollower& logs;
    Takeover& takeover;
    Planning& planning;
    Recorder& recorder;
    const Meter& meter;
    const std::unique_ptr<Extension>& extension;  ///< may come later
  };

  explicit Intake(const Parts& parts) : at_(parts) {}

  /// What the engine says that has changed.
  void take(std::vector<Change> changes, Moment now);
  /// docker pause and unpause: a frozen job has no rank and uses nothing, and others have what it
  /// had.
  Async<void> follow_freezing(Moment now);
  /// Puts a container under control. `refusal`: why it cannot be.
  void admit(const engine::Container& container, const Settings& settings, Moment now,
             const std::string& refusal = "");
  /// Control of it ends, its original limits are back. Errors: they could not be put back.
  Async<Result<void>> release(std::string id);
  /// Makes real what a person decided: it leaves the lists and gets its original limits back, or
  /// comes back as an arrival. What could not be put back before is tried again. Errors: the limits
  /// could not be put back.
  Async<Result<void>> follow_pause(std::string id);
  /// Now and then, where control is suspended and the limits could not be put back.
  Async<void> restore_again(Moment now);
  /// Shows the policy who shares the host now.
  void compare_sets(Moment now);
  /// The daemon ends: what is still read of ended jobs is read no further.
  void settle_all();

 private:
  void start(const engine::Container& container, Moment now);
  void greet(const engine::Container& container, Moment now);
  void finish(const std::string& id, double time, std::optional<int> status);
  void settle(const std::string& id, const std::string& read_until);
  void follow_update(const engine::Container& container);
  void read_back(Job& job);
  void join_claimed(Moment now);
  void find_group(Job& job);
  void line_up(const Job& job);
  void record_end(Job& job, double time, const std::optional<int>& status = {});
  [[nodiscard]] bool is_cut_short(const std::string& id) const;
  void remember_end(Ending& ending, Moment now);
  void keep_profile(const Ending& ending);

  Parts at_;
  double next_restore_ = 0;  // steady
};

}  // namespace flowcon::ctrl
