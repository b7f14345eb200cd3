// SPDX-License-Identifier: Apache-2.0
// Where containers went, for calls about them: of each name the last move from here and the last to
// here, for longer than moves are shown.
#pragma once

#include <cstddef>
#include <vector>

#include "cluster/migration/plan/journal.h"
#include "cluster/moves.h"

namespace flowcon::cluster::migration {

/// Ways that are remembered.
inline constexpr std::size_t kMostWays = 1000;

class Ways {
 public:
  /// A move that has ended, later than all before.
  void add(const Entry& entry);
  /// Newest first.
  [[nodiscard]] std::vector<Way> all() const;

 private:
  struct Done {
    Way way;
    Side side = Side::source;
    bool is_return = false;
  };
  std::vector<Done> done_;  ///< oldest first
};

}  // namespace flowcon::cluster::migration
