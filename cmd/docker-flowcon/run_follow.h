// SPDX-License-Identifier: Apache-2.0
// The job of a `docker flowcon run` in the foreground when docker's own client has ended: that is
// the job's end only where no move stopped it.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "cmd/docker-flowcon/command.h"
#include "cmd/docker-flowcon/run.h"

namespace flowcon::plugin {

/// What the list of moves (GET /v1/moves) says of a container that ran here.
struct Whereabouts {
  enum class State {
    here,    ///< no move stopped it
    moving,  ///< a move is under way
    moved,   ///< it is on `host`
    back,    ///< a move stopped it and was undone: it was started here again
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

/// `status` is that of docker's client for the container `id`. Waits for the end of a move that
/// stopped the job, and for its end here where the move was undone. Returns the job's own status,
/// or 125 with a sentence where the job goes on elsewhere.
[[nodiscard]] int follow_job(const Session& session, const DaemonClient& daemon,
                             const std::string& id, int status);

}  // namespace flowcon::plugin
