// SPDX-License-Identifier: Apache-2.0
// The facts that the journal's rules decide from: how the copy is, what the other side said, why to
// give up.
#pragma once

#include "cluster/migration/run/move.h"
#include "cluster/migration/run/watch.h"
#include "cluster/migration/run/world.h"

namespace flowcon::cluster::migration {

class FactFinder {
 public:
  FactFinder(World& world, Watch& watch) : world_(world), watch_(watch) {}
  Async<Facts> gather(MovePtr move);

 private:
  Async<Result<Seen>> look(MovePtr move);
  Async<Facts> judge_copy(MovePtr move, Seen seen, bool has_heard, bool is_proven);
  Async<bool> has_proven(MovePtr move, Seen seen);

  World& world_;
  Watch& watch_;
};

/// Of a source that was asked to save, or is on its way back: has the job ended by itself, and
/// would its engine have left it so?
[[nodiscard]] bool ended_by_itself(const Move& move, const Seen& seen);

/// Why time alone has the move given up now, in words; empty: it does not. `started`: of the life
/// that was seen, where the engine answered.
[[nodiscard]] std::string why_too_late(const Move& move, double now,
                                       const std::optional<std::string>& started);

}  // namespace flowcon::cluster::migration
