// SPDX-License-Identifier: Apache-2.0
// Follows the job of a foreground `docker flowcon run` after docker's client has ended: the job has
// ended too, unless a migration stopped it.
#pragma once

#include <boost/json/value.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "cmd/docker-flowcon/command.h"
#include "cmd/docker-flowcon/job/run.h"

namespace flowcon::plugin {

/// The state of a container that ran here, by the list of migrations (GET /v1/moves).
struct Whereabouts {
  enum class State {
    here,     ///< no migration stopped it
    moving,   ///< a migration is under way
    moved,    ///< it is on `host`
    back,     ///< a migration stopped it and was undone: it runs here again
    unknown,  ///< flowcond has lost entries of its journal
  };
  State state = State::here;
  std::string name;  ///< of the container, safe for a terminal
  std::string host;  ///< target of the migration, safe for a terminal
};

[[nodiscard]] Whereabouts whereabouts(const boost::json::value& moves, const std::string& id);

/// While it lives, the signals that this process alone gets go to the child of run_child(), and so
/// does SIGTERM where docker got a signal without a terminal. One that came while no child ran ends
/// the next child, and any of them ends the wait of follow_job(); SIGUSR1 and SIGUSR2 end nothing.
/// One HandOn inside of another does nothing, so that nothing is lost between two children.
class HandOn {
 public:
  HandOn();
  HandOn(const HandOn&) = delete;
  HandOn& operator=(const HandOn&) = delete;
  ~HandOn();

 private:
  struct Held;
  std::unique_ptr<Held> held_;
};

/// Runs `plan` as a child that has the terminal, under a HandOn, and returns its status as a shell
/// has it. A child that cannot be started: 127 or 126, as become().
[[nodiscard]] int run_child(const Session& session, const ExecPlan& plan);

struct FollowOptions {
  /// Did flowcond answer when the job began? If not, it is asked once, and counts only if it has a
  /// migration of the job.
  bool was_answering = true;
  /// How long to wait for a flowcond that does not answer.
  std::chrono::milliseconds patience = std::chrono::seconds(60);
};

/// `status` is that of docker's client for the container `id`. Waits for the end of a migration
/// that stopped the job, and for the job's end here if the migration was undone. Returns the job's
/// status, or 125 with a sentence if the job runs on elsewhere, or may: `status` is 0, and flowcond
/// does not answer or has lost its journal.
[[nodiscard]] int follow_job(const Session& session, const DaemonClient& daemon,
                             const std::string& id, int status, const FollowOptions& options = {});

}  // namespace flowcon::plugin
