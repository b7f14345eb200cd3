// SPDX-License-Identifier: Apache-2.0
// Reads what can still be read of a damaged journal, row by row. Private to the store.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

struct sqlite3;

namespace flowcon::ctrl::store {

struct Salvaged {
  std::size_t rows = 0;  ///< that were taken over
  std::size_t open = 0;  ///< moves among what was found that had not ended
};

/// Adds to the journal `to`, a good one, whatever the kept tables of the damaged file `from` have
/// that it has not; `from` and its log of changes stay as they are. Moves that had not ended go to
/// lost_moves alone: a step later than the last that can be read may have been written and told, so
/// that nobody may go on with them. Of a file of which nothing can be read, nothing. One
/// transaction. Errors: `to` cannot be written.
[[nodiscard]] Result<Salvaged> salvage(const std::string& from, sqlite3* to);

}  // namespace flowcon::ctrl::store
