// SPDX-License-Identifier: Apache-2.0
// The tables of the two files of the store. Private to the store.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

struct sqlite3;

namespace flowcon::ctrl::store {

/// In the files; of another version a journal is refused, and records are put aside. To be changed
/// with the tables.
inline constexpr std::int64_t kRecordsVersion = 18;
inline constexpr std::int64_t kJournalVersion = 2;

/// 0 of an empty file. Errors: SQLite's.
[[nodiscard]] Result<std::int64_t> version_of(sqlite3* db);
/// In an empty file. One transaction each.
[[nodiscard]] Result<void> make_records(sqlite3* db);
[[nodiscard]] Result<void> make_journal(sqlite3* db);
/// What an earlier flowcond's journal lacks: which of its limits were the CPU's alone. All its rows
/// have all limits.
[[nodiscard]] Result<void> complete_journal(sqlite3* db);

/// A table of the journal whose rows are taken over from a damaged one.
struct KeptTable {
  std::string name;
  std::string columns;  ///< all of them, with commas
};
[[nodiscard]] const std::vector<KeptTable>& kept_tables();

}  // namespace flowcon::ctrl::store
