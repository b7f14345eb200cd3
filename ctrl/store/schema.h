// SPDX-License-Identifier: Apache-2.0
// The tables of the two files of the store, and how older versions become the newest. Private to
// the store.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

struct sqlite3;

namespace flowcon::ctrl::store {

inline constexpr std::int64_t kRecordsVersion = 15;
inline constexpr std::int64_t kJournalVersion = 1;
/// The last version of the records that held what is in the journal now.
inline constexpr std::int64_t kOneFile = 14;

/// 0 of an empty file. Errors: SQLite's.
[[nodiscard]] Result<std::int64_t> version_of(sqlite3* db);
/// One transaction.
[[nodiscard]] Result<void> bring_records(sqlite3* db, std::int64_t from, std::int64_t to);
[[nodiscard]] Result<void> make_journal(sqlite3* db);

/// A table that was in the records up to kOneFile and is in the journal now, under the same name.
struct KeptTable {
  std::string name;
  std::string key;      ///< one column, unique
  std::string columns;  ///< all of them, with commas
};
[[nodiscard]] const std::vector<KeptTable>& kept_tables();

}  // namespace flowcon::ctrl::store
