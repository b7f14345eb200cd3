// SPDX-License-Identifier: Apache-2.0
// The files of a database: the database, and beside it the log of changes (-wal) and its index
// (-shm). Private to the store.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

struct sqlite3;

namespace flowcon::ctrl::store {

struct CloseDatabase {
  void operator()(sqlite3* db) const;
};
using Handle = std::unique_ptr<sqlite3, CloseDatabase>;

/// Null where there is no memory; whether it could be opened shows at the first use.
[[nodiscard]] Handle open_file(const std::string& path, int flags);
/// That its end leaves the log of changes as it is, or (false) takes it into the database.
void keep_log(sqlite3* db, bool is_kept = true);

[[nodiscard]] bool is_there(const std::string& path);
[[nodiscard]] bool has_bytes(const std::string& path);
/// Moves `path` and what belongs to it to PATH.WHY-N, N the first that is free; returns that.
/// The database goes last: without its log of changes it is older than it seems.
[[nodiscard]] Result<std::string> put_aside(const std::string& path,
                                            const std::string& why = "damaged");
/// `path` and what belongs to it.
void remove_files(const std::string& path);
/// What was renamed or made in the folder of `path` survives a loss of power.
[[nodiscard]] Result<void> sync_folder(const std::string& path);
/// Writes a file whole, on the disk when it returns.
[[nodiscard]] Result<void> write_whole(const std::string& path, const std::string& text);

}  // namespace flowcon::ctrl::store
