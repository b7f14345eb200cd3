// SPDX-License-Identifier: Apache-2.0
// A host whose journal of moves has lost entries: it says so, names what may be half migrated, and
// neither starts nor stops nor answers for anything.
#pragma once

#include <string>
#include <vector>

#include "cluster/migration/run/world.h"

namespace flowcon::cluster::migration {

class LostMoves {
 public:
  explicit LostMoves(World& world) : world_(world) {}
  /// Warns of each, once the engine answers.
  Async<void> name_all();

 private:
  Async<void> name_known();
  /// Ids of containers that a move may have left in the middle; none when World::is_ended.
  Async<std::vector<std::string>> find_suspects();
  /// "" where it does not look half moved.
  Async<std::string> why_suspect(Seen seen);

  World& world_;
};

}  // namespace flowcon::cluster::migration
