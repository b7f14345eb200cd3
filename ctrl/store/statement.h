// SPDX-License-Identifier: Apache-2.0
// One prepared SQLite statement: bind in order, step, read columns; one transaction. Private to the
// store.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace flowcon::ctrl::store {

[[nodiscard]] inline bool is_damage(int code) {
  return (code & 0xff) == SQLITE_NOTADB || (code & 0xff) == SQLITE_CORRUPT;
}

[[nodiscard]] inline Error sqlite_error(sqlite3* db, const std::string& doing) {
  const int code = sqlite3_extended_errcode(db);
  if ((code & 0xff) == SQLITE_FULL) {
    return errno_error(ENOSPC, doing + ": no room left for the state");
  }
  if (is_damage(code)) {
    return errno_error(EUCLEAN, doing + ": the state file is damaged (restart flowcond: it puts " +
                                    "the file aside and begins a new one): " + sqlite3_errmsg(db));
  }
  return bad_input(doing + ": " + sqlite3_errmsg(db));
}

[[nodiscard]] inline Result<void> execute(sqlite3* db, const std::string& sql,
                                          const std::string& doing) {
  if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return sqlite_error(db, doing);
  }
  return {};
}

/// Bindings are by position from 1, columns from 0, as SQLite counts.
class Statement {
 public:
  Statement(sqlite3* db, std::string_view sql) : db_(db) {
    sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(std::string_view text) {
    sqlite3_bind_text(statement_, ++at_, text.data(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
    return *this;
  }
  Statement& bind_bytes(std::string_view bytes) {
    sqlite3_bind_blob(statement_, ++at_, bytes.data(), static_cast<int>(bytes.size()),
                      SQLITE_TRANSIENT);
    return *this;
  }
  Statement& bind(double number) {
    sqlite3_bind_double(statement_, ++at_, number);
    return *this;
  }
  Statement& bind(std::int64_t number) {
    sqlite3_bind_int64(statement_, ++at_, number);
    return *this;
  }
  template <class T>
  Statement& bind(const std::optional<T>& value) {
    if (value) return bind(*value);
    sqlite3_bind_null(statement_, ++at_);
    return *this;
  }

  /// True for a row, false at the end. Errors: SQLite's.
  [[nodiscard]] Result<bool> step(const std::string& doing) {
    if (statement_ == nullptr) return sqlite_error(db_, doing);
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return sqlite_error(db_, doing);
  }
  /// Ready for the next bindings.
  void reset() {
    sqlite3_reset(statement_);
    at_ = 0;
  }
  /// Runs a statement without rows and makes it ready for the next bindings.
  [[nodiscard]] Result<void> run(const std::string& doing) {
    Result<bool> row = step(doing);
    reset();
    if (!row) return row.error();
    return {};
  }

  /// Calls take() at each row. Errors: SQLite's.
  template <class Take>
  [[nodiscard]] Result<void> each(const std::string& doing, Take take) {
    for (;;) {
      const Result<bool> row = step(doing);
      if (!row) return row.error();
      if (!*row) return {};
      take();
    }
  }

  /// What make() makes of each row, in a vector or a map. Errors: SQLite's.
  template <class Found, class Make>
  [[nodiscard]] Result<Found> collect(const std::string& doing, Make make) {
    Found found;
    const Result<void> read = each(doing, [&] { found.insert(found.end(), make()); });
    if (!read) return read.error();
    return found;
  }

  [[nodiscard]] std::string text(int column) const {
    const auto* bytes = sqlite3_column_text(statement_, column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return bytes != nullptr ? std::string(reinterpret_cast<const char*>(bytes), size)
                            : std::string();
  }
  /// Valid until the next step.
  [[nodiscard]] std::string_view bytes(int column) const {
    const void* bytes = sqlite3_column_blob(statement_, column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return bytes != nullptr ? std::string_view(static_cast<const char*>(bytes), size)
                            : std::string_view();
  }
  [[nodiscard]] double number(int column) const {
    return sqlite3_column_double(statement_, column);
  }
  [[nodiscard]] std::int64_t integer(int column) const {
    return sqlite3_column_int64(statement_, column);
  }
  [[nodiscard]] bool is_null(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
  }
  [[nodiscard]] std::optional<double> number_if(int column) const {
    return is_null(column) ? std::nullopt : std::optional(number(column));
  }
  [[nodiscard]] std::optional<std::int64_t> integer_if(int column) const {
    return is_null(column) ? std::nullopt : std::optional(integer(column));
  }

 private:
  sqlite3* db_;
  sqlite3_stmt* statement_ = nullptr;
  int at_ = 0;
};

/// Transactions need not be on the disk when they are through, as long as this lives: what they say
/// goes with the power.
class Brief {
 public:
  explicit Brief(sqlite3* db) : db_(db) { set("PRAGMA synchronous=NORMAL"); }
  ~Brief() { set("PRAGMA synchronous=FULL"); }
  Brief(const Brief&) = delete;
  Brief& operator=(const Brief&) = delete;

 private:
  void set(const char* pragma) { sqlite3_exec(db_, pragma, nullptr, nullptr, nullptr); }
  sqlite3* db_;
};

/// Rolls back unless commit() was reached.
class Transaction {
 public:
  explicit Transaction(sqlite3* db) : db_(db) {
    open_ = sqlite3_exec(db, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) == SQLITE_OK;
  }
  ~Transaction() {
    if (open_) sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  /// To be asked before the first statement: where it did not begin each would stand by itself.
  [[nodiscard]] Result<void> begun(const std::string& doing) const {
    return open_ ? Result<void>() : sqlite_error(db_, doing);
  }
  [[nodiscard]] Result<void> commit(const std::string& doing) {
    if (!open_ || sqlite3_exec(db_, "COMMIT", nullptr, nullptr, nullptr) != SQLITE_OK) {
      return sqlite_error(db_, doing);
    }
    open_ = false;
    return {};
  }

 private:
  sqlite3* db_;
  bool open_ = false;
};

}  // namespace flowcon::ctrl::store
