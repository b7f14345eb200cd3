// SPDX-License-Identifier: Apache-2.0
// The source's job is asked to save and to end: by a signal or a command of its own, or CRIU saves
// it.
#pragma once

#include <ctime>
#include <optional>

#include "cluster/migration/run/move.h"
#include "cluster/migration/run/world.h"

namespace flowcon::cluster::migration {

class Saver {
 public:
  explicit Saver(World& world) : world_(world) {}
  Async<bool> save(MovePtr move);

 private:
  Async<Result<void>> save_by_criu(MovePtr move);
  Async<void> watch_dump(MovePtr move);
  Async<Result<void>> see_end(MovePtr move);
  Async<Result<void>> save_by_application(MovePtr move);
  Async<Result<void>> save_by_signal(MovePtr move, int signal);
  /// Of the job that has ended after `signal`, `waited` seconds after it was asked at `asked`.
  Async<Result<void>> judge_status(MovePtr move, int signal, std::int64_t status, timespec asked,
                                   double waited);
  /// The job ended with status 0, or its command did. `asked`: when it got the signal.
  Async<Result<void>> believe_saved(MovePtr move, std::optional<timespec> asked);
  /// A job that was not told to end and has ended, ended by itself.
  Async<void> note_end(MovePtr move);

  World& world_;
};

}  // namespace flowcon::cluster::migration
