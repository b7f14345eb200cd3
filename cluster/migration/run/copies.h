// SPDX-License-Identifier: Apache-2.0
// This side's copy: made, started, removed with all that belongs to it. Each may be repeated; true
// where something may have changed.
#pragma once

#include "cluster/migration/run/cache.h"
#include "cluster/migration/run/move.h"
#include "cluster/migration/run/records.h"
#include "cluster/migration/run/world.h"

namespace flowcon::cluster::migration {

class CopyKeeper {
 public:
  CopyKeeper(World& world, Records& records, Cache& cache)
      : world_(world), records_(records), cache_(cache) {}
  /// Target: image, volumes, container.
  Async<bool> prepare(MovePtr move);
  Async<bool> start(MovePtr move);
  Async<bool> remove(MovePtr move);
  /// Restart policies and what runs are in the engine's own files: waits until the disk has them.
  Async<bool> sync_engine(MovePtr move);

 private:
  Async<Result<void>> start_from(MovePtr move, std::string checkpoint);
  Async<void> remove_image_of(MovePtr move);
  Async<bool> has_its_data(MovePtr move);

  World& world_;
  Records& records_;
  Cache& cache_;
};

}  // namespace flowcon::cluster::migration
