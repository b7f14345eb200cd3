// SPDX-License-Identifier: Apache-2.0
// What others do to a copy while it moves: people and supervisors that start what was handed over,
// or stop what runs. The engine's events tell it at once; each look at the copy shows it later.
#pragma once

#include "cluster/migration/run/move.h"
#include "cluster/migration/run/open_moves.h"
#include "cluster/migration/run/records.h"
#include "cluster/migration/run/world.h"

namespace flowcon::cluster::migration {

class Watch {
 public:
  Watch(World& world, OpenMoves& open, Records& records)
      : world_(world), open_(open), records_(records) {}

  /// Follows the engine's events from the first move on; more than once does nothing.
  void begin();
  /// The stream that is heard; 0: none.
  [[nodiscard]] unsigned stream() const { return stream_; }
  /// How a copy is that is down, and whose doing it was. `has_heard`: what the engine remembers was
  /// told before it was seen.
  Async<Copy> judge_end(MovePtr move, Seen seen, bool has_heard);

 private:
  Async<void> follow();
  void hear(const ctrl::engine::EngineEvent& event);
  Async<void> halt(MovePtr move);

  World& world_;
  OpenMoves& open_;
  Records& records_;
  bool is_watching_ = false;
  unsigned streams_ = 0;  ///< so far
  unsigned stream_ = 0;
};

}  // namespace flowcon::cluster::migration
