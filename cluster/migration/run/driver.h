// SPDX-License-Identifier: Apache-2.0
// Drives each move: gathers the facts, asks the journal's rules what is next, has that written down
// and done, until nothing is left.
#pragma once

#include "cluster/migration/run/cache.h"
#include "cluster/migration/run/copies.h"
#include "cluster/migration/run/facts.h"
#include "cluster/migration/run/move.h"
#include "cluster/migration/run/open_moves.h"
#include "cluster/migration/run/records.h"
#include "cluster/migration/run/saving.h"
#include "cluster/migration/run/sending.h"
#include "cluster/migration/run/watch.h"
#include "cluster/migration/run/world.h"

namespace flowcon::cluster::migration {

class Driver {
 public:
  Driver(World& world, OpenMoves& open, Records& records, Cache& cache);
  /// Goes on with a move, beside whoever calls, until it is closed or World::is_ended.
  void launch(MovePtr move);

 private:
  Async<void> drive(MovePtr move);
  /// Does what is next; true where something may have changed. May be repeated.
  Async<bool> carry_out(MovePtr move, Effect effect);
  Async<bool> close_copy(MovePtr move);
  Async<void> hold(MovePtr move);
  Async<void> rest(MovePtr move);
  void tell_progress(Move& move) const;
  void tell_end(const Move& move);
  void close(const MovePtr& move);

  World& world_;
  OpenMoves& open_;
  Records& records_;
  Cache& cache_;
  Watch watch_;
  FactFinder facts_;
  Saver saver_;
  Sender sender_;
  CopyKeeper copies_;
};

}  // namespace flowcon::cluster::migration
