// SPDX-License-Identifier: Apache-2.0
// The moves of this host: those under way, and the last ones that have ended.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cluster/migration/run/move.h"
#include "cluster/migration/run/ways.h"
#include "cluster/migration/run/world.h"

namespace flowcon::cluster::migration {

/// Ended moves that are shown.
inline constexpr std::size_t kKeptMoves = 200;

/// One that has ended.
struct PastMove {
  MoveView view;
  double ended = 0;  ///< wall
};

class OpenMoves {
 public:
  explicit OpenMoves(World& world) : world_(world) {}

  /// By id.
  [[nodiscard]] const std::map<std::string, MovePtr>& all() const { return moves_; }
  /// Null where there is none.
  [[nodiscard]] MovePtr find(const std::string& id) const;
  /// By the container's name, or the beginning of its or the move's id.
  [[nodiscard]] MovePtr find_by_container(const std::string& name) const;
  void add(const MovePtr& move) { moves_[move->entry.id] = move; }
  /// It was none.
  void drop(const std::string& id) { moves_.erase(id); }
  /// It is over, and shown as such.
  void close(const MovePtr& move);
  /// Those that have ended, newest first, and where they led.
  void remember(std::vector<PastMove> past, Ways ways) {
    past_ = std::move(past);
    ways_ = std::move(ways);
  }

  /// As Moves and Migrator say.
  [[nodiscard]] bool is_moving(const std::string& container) const;
  [[nodiscard]] bool is_saving(const std::string& container) const;
  [[nodiscard]] std::int64_t reserved() const;
  [[nodiscard]] std::vector<std::string> open_with(const std::string& host) const;
  [[nodiscard]] std::vector<MoveView> list(std::size_t most) const;
  [[nodiscard]] std::vector<Way> ways() const;
  /// Ids of the images that moves under way need.
  [[nodiscard]] std::set<std::string> images() const;

 private:
  World& world_;
  std::map<std::string, MovePtr> moves_;
  std::vector<PastMove> past_;
  Ways ways_;
};

}  // namespace flowcon::cluster::migration
