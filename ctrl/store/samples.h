// SPDX-License-Identifier: Apache-2.0
// Values of runs in the records: many in a row, since a training may print ten a second. Private to
// the store.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ctrl/model.h"
#include "ctrl/store/statement.h"

namespace flowcon::ctrl::store {

/// Adds values of a run, in order of time.
class SampleWriter {
 public:
  explicit SampleWriter(sqlite3* db) : put_(db, "INSERT INTO samples VALUES(?,?,?,?,?)") {}
  /// Those at `after` and before are left out. Errors: SQLite's.
  [[nodiscard]] Result<void> add(std::int64_t run, const std::vector<Sample>& samples, double after,
                                 const std::string& doing);

 private:
  Statement put_;
};

/// The values of a row. `packed` may come from a damaged file.
[[nodiscard]] std::vector<Sample> unpacked(std::string_view packed);

/// Keeps one value in `kept_of` of each run in the rows that begin from `from` on and before
/// `until`. Errors: SQLite's.
[[nodiscard]] Result<void> thin_samples(sqlite3* db, double from, double until, int kept_of,
                                        const std::string& doing);

}  // namespace flowcon::ctrl::store
