// SPDX-License-Identifier: Apache-2.0
// The job of a `docker flowcon run` in the foreground when docker's own client has ended: that is
// the job's end only where no move stopped it.
#pragma once

#include <boost/json/value.hpp>
#include <chrono>
#include <string>

#include "cmd/docker-flowcon/command.h"
#include "cmd/docker-flowcon/job/run.h"

namespace flowcon::plugin {

/// What the list of moves (GET /v1/moves) says of a container that ran here.
struct Whereabouts {
  enum class State {
    here,     ///< no move stopped it
    moving,   ///< a move is under way
    moved,    ///< it is on `host`
    back,     ///< a move stopped it and was undone: it was started here again
    unknown,  ///< flowcond has lost entries of its journal
  };
  State state = State::here;
  std::string name;  ///< of the container, safe for a terminal
  std::string host;  ///< it moved or moves to, safe for a terminal
};

[[nodiscard]] Whereabouts whereabouts(const boost::json::value& moves, const std::string& id);

/// Runs `plan` as a child that has the terminal, hands on the signals that a process alone gets,
/// and returns its status as a shell has it. A child that cannot be started: 127 or 126, as
/// become().
[[nodiscard]] int run_child(const ExecPlan& plan, Terminal& terminal);

struct FollowOptions {
  /// Did flowcond answer when the job began? Where not, it is asked once, and counts only where it
  /// knows a move of the job.
  bool was_answering = true;
  /// In which a flowcond that does not answer has to come back.
  std::chrono::milliseconds patience = std::chrono::seconds(60);
};

/// `status` is that of docker's client for the container `id`. Waits for the end of a move that
/// stopped the job, and for its end here where the move was undone. Returns the job's own status,
/// or 125 with a sentence where the job goes on elsewhere, and where it may: `status` is 0, and
/// flowcond does not answer or does not know.
[[nodiscard]] int follow_job(const Session& session, const DaemonClient& daemon,
                             const std::string& id, int status, const FollowOptions& options = {});

}  // namespace flowcon::plugin
