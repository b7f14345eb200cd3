// SPDX-License-Identifier: Apache-2.0
#include "ctrl/store/salvage.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>

#include "ctrl/store/files.h"
#include "ctrl/store/schema.h"
#include "ctrl/store/statement.h"

namespace flowcon::ctrl::store {
namespace {

constexpr const char* kDoing = "taking over the readable rows of a damaged journal";
constexpr std::int64_t kMostAsked = 200000;  // rows between two that can be read
constexpr std::size_t kHeader = 100;         // bytes

// Puts the columns of a row of another connection into `put` and runs it.
Result<void> put_row(sqlite3_stmt* row, int first, sqlite3* to, const std::string& sql) {
  sqlite3_stmt* put = nullptr;
  sqlite3_prepare_v2(to, sql.c_str(), static_cast<int>(sql.size()), &put, nullptr);
  for (int i = first; i < sqlite3_column_count(row); ++i) {
    sqlite3_bind_value(put, i - first + 1, sqlite3_column_value(row, i));
  }
  const int code = sqlite3_step(put);
  Result<void> done;
  // A row that breaks a rule of its table is none.
  if (code != SQLITE_DONE && (code & 0xff) != SQLITE_CONSTRAINT) done = sqlite_error(to, kDoing);
  sqlite3_finalize(put);
  return done;
}

class Reader {
 public:
  Reader(sqlite3* from, sqlite3* to) : from_(from), to_(to) {}

  Result<void> take(const KeptTable& table) {
    std::string marks = "?";
    for (const char c : table.columns) marks += c == ',' ? ",?" : "";
    put_ = "INSERT OR IGNORE INTO " + table.name + "(" + table.columns + ") VALUES(" + marks + ")";
    is_moves_ = table.name == "migrations";
    const std::string all = "SELECT rowid," + table.columns + " FROM " + table.name;
    if (!prepares(all)) return {};
    std::int64_t last = 0, first = 0;
    bool is_whole = true;
    if (auto done = take_all(all + " ORDER BY rowid", &last, &is_whole); !done) return done;
    if (is_whole) return {};
    // Then what lies behind the damage, from the other end.
    if (auto done = take_all(all + " ORDER BY rowid DESC", &first, &is_whole); !done) {
      return done;
    }
    if (first <= last) first = last + kMostAsked;
    for (std::int64_t row = last + 1; row < first && row - last < kMostAsked; ++row) {
      std::int64_t seen = 0;
      if (auto done = take_all(all + " WHERE rowid=" + std::to_string(row), &seen, &is_whole);
          !done) {
        return done;
      }
    }
    return {};
  }

  Salvaged found;

 private:
  [[nodiscard]] bool prepares(const std::string& sql) const {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v2(from_, sql.c_str(), -1, &statement, nullptr);
    sqlite3_finalize(statement);
    return code == SQLITE_OK;
  }

  // Up to the end or the first page that is damaged. `last`: the key of the last row.
  Result<void> take_all(const std::string& sql, std::int64_t* last, bool* is_whole) {
    sqlite3_stmt* rows = nullptr;
    int code = sqlite3_prepare_v2(from_, sql.c_str(), -1, &rows, nullptr);
    Result<void> done;
    if (code == SQLITE_OK) {
      while (done && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        *last = sqlite3_column_int64(rows, 0);
        done = take_row(rows);
      }
    }
    *is_whole = code == SQLITE_DONE;
    sqlite3_finalize(rows);
    return done;
  }

  Result<void> take_row(sqlite3_stmt* row) {
    const bool is_open = is_moves_ && sqlite3_column_type(row, 5) == SQLITE_NULL;
    const int before = sqlite3_total_changes(to_);
    if (is_open) {
      Statement put(to_, "INSERT OR IGNORE INTO lost_moves(id,entry) VALUES(?,?)");
      const auto text = [row](int column) {
        const auto* bytes = sqlite3_column_text(row, column);
        return std::string(bytes != nullptr ? reinterpret_cast<const char*>(bytes) : "");
      };
      if (auto done = put.bind(text(1)).bind(text(2)).run(kDoing); !done) return done;
    } else if (auto done = put_row(row, 1, to_, put_); !done) {
      return done;
    }
    if (sqlite3_total_changes(to_) == before) return {};
    ++found.rows;
    if (is_open) ++found.open;
    return {};
  }

  sqlite3* from_;
  sqlite3* to_;
  std::string put_;
  bool is_moves_ = false;
};

// Nothing of the file or its log of changes is written.
Handle open_to_read(const std::string& path) {
  Handle db = open_file(path, SQLITE_OPEN_READWRITE);
  if (db) keep_log(db.get());
  sqlite3_exec(db.get(), "PRAGMA query_only=1; PRAGMA busy_timeout=2000", nullptr, nullptr,
               nullptr);
  return db;
}

bool can_be_read(sqlite3* db) {
  return sqlite3_exec(db, "SELECT count(*) FROM sqlite_master", nullptr, nullptr, nullptr) ==
         SQLITE_OK;
}

// A copy with the first 100 bytes of a good file of ours: where damage hit no more than that, the
// rest can be read. False where it could not be made.
bool copy_with_header(const std::string& from, const std::string& good, const std::string& copy) {
  std::error_code error;
  remove_files(copy);
  std::filesystem::copy_file(from, copy, error);
  std::filesystem::copy_file(from + "-wal", copy + "-wal", error);
  std::array<char, kHeader> header{};
  std::ifstream source(good, std::ios::binary);
  if (!source.read(header.data(), header.size())) return false;
  for (std::size_t i = 28; i < 40; ++i) header[i] = 0;  // size and free pages: SQLite looks itself
  std::fstream file(copy, std::ios::in | std::ios::out | std::ios::binary);
  file.write(header.data(), header.size());
  return static_cast<bool>(file.flush());
}

}  // namespace

Result<Salvaged> salvage(const std::string& from, sqlite3* to) {
  Handle damaged = open_to_read(from);
  const std::string copy = from + ".repair";
  const char* good = sqlite3_db_filename(to, "main");
  if (!can_be_read(damaged.get()) && good != nullptr && copy_with_header(from, good, copy)) {
    damaged = open_to_read(copy);
  }
  Transaction transaction(to);
  Reader reader(damaged.get(), to);
  for (const KeptTable& table : kept_tables()) {
    if (auto done = reader.take(table); !done) return done.error();
  }
  damaged.reset();
  remove_files(copy);
  if (auto done = transaction.commit(kDoing); !done) return done.error();
  return reader.found;
}

}  // namespace flowcon::ctrl::store
