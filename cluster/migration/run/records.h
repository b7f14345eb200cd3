// SPDX-License-Identifier: Apache-2.0
// The migrator and its journal: reading it at the start, writing each step.
#pragma once

#include <functional>
#include <string>

#include "cluster/migration/run/move.h"
#include "cluster/migration/run/open_moves.h"
#include "cluster/migration/run/world.h"
#include "ctrl/log.h"

namespace flowcon::cluster::migration {

class Records {
 public:
  Records(World& world, OpenMoves& open) : world_(world), open_(open) {}

  /// It is going to be read.
  void begin() { is_begun_ = true; }
  /// Takes up what has not ended, each by `launch`. False where it has to be tried again; what was
  /// taken up already stays.
  Async<bool> read(std::function<void(MovePtr)> launch);
  /// Why nothing can be said of all moves; empty: the journal was read.
  [[nodiscard]] std::string why_unread() const;
  [[nodiscard]] bool is_reading() const;
  /// Could all of it be read?
  [[nodiscard]] bool is_whole() const { return is_whole_; }
  /// Has it lost rows?
  [[nodiscard]] bool is_lost() const { return !world_.rows.is_whole(); }

  Async<Result<void>> save(MovePtr move, Entry entry);
  /// False where it could not be written and must not be done.
  Async<bool> write_down(MovePtr move, Effect effect);

 private:
  [[nodiscard]] ctrl::store::Migration row_of(const Move& move, const Entry& entry) const;
  [[nodiscard]] MovePtr restored(const ctrl::store::Migration& row, Entry entry, Plan plan) const;
  Async<bool> read_one(ctrl::store::Migration row, std::function<void(MovePtr)> launch);
  void remember(const std::vector<ctrl::store::Migration>& rows,
                const std::vector<std::string>& ended);

  World& world_;
  OpenMoves& open_;
  bool is_begun_ = false;
  bool is_read_ = false;
  bool is_whole_ = true;
  ctrl::log::Repeated unread_;
};

}  // namespace flowcon::cluster::migration
