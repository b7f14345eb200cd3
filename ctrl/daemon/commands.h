// SPDX-License-Identifier: Apache-2.0
// What people do to containers: adopt, release, pause, pin, set. Each is saved first and then made
// real, so that a restart of the daemon or of the container forgets nothing. For .cpp files only:
// it includes Asio.
#pragma once

#include <string>

#include "ctrl/api/routes.h"
#include "ctrl/daemon/controls.h"
#include "ctrl/daemon/intake.h"
#include "ctrl/daemon/roster.h"
#include "ctrl/daemon/schedule.h"
#include "ctrl/daemon/world.h"
#include "ctrl/mutex.h"

namespace flowcon::ctrl {

class Commands {
 public:
  /// What it works with; all have to outlive it. `pass`: one pass of the loop or one command at a
  /// time.
  struct Parts {
    Mutex& pass;
    const World& world;
    Containers& containers;
    Roster& roster;
    Schedule& schedule;
    Controls& controls;
    Intake& intake;
  };
  /// How a command changes the overrides of a container. `now`: seconds since the epoch.
  using Change = Result<void> (*)(Control&, const std::string& body, double now);

  explicit Commands(const Parts& parts) : at_(parts) {}

  Async<api::Response> adopt(api::Call call);
  Async<api::Response> release(api::Call call);
  Async<api::Response> change(api::Call call, Change how);
  Async<api::Response> pause_all(api::Call call, bool is_paused);

 private:
  Async<api::Response> no_such_container(std::string name);
  void run_soon();

  Parts at_;
};

}  // namespace flowcon::ctrl
