// SPDX-License-Identifier: Apache-2.0
// The journal of moves between hosts. Entries that have ended are kept: the other side may ask
// late.
#include "ctrl/store/statement.h"
#include "ctrl/store/store.h"

namespace flowcon::ctrl::store {
namespace {

Migration read_row(const Statement& row) {
  Migration migration{row.text(0), row.text(1), row.text(2), row.number(3), {}};
  if (!row.is_null(4)) migration.ended = row.number(4);
  return migration;
}

// Each transaction is on the disk when it is through, as long as this lives.
class Durable {
 public:
  explicit Durable(sqlite3* db) : db_(db) { set("PRAGMA synchronous=FULL"); }
  ~Durable() { set("PRAGMA synchronous=NORMAL"); }
  Durable(const Durable&) = delete;
  Durable& operator=(const Durable&) = delete;

 private:
  void set(const char* pragma) { sqlite3_exec(db_, pragma, nullptr, nullptr, nullptr); }
  sqlite3* db_;
};

}  // namespace

Result<void> Store::save_migration(const Migration& migration) {
  const Durable durable(db_);
  Statement put(db_,
                "INSERT OR REPLACE INTO migrations(id,entry,plan,started,ended) "
                "VALUES(?,?,?,?,?)");
  put.bind(migration.id).bind(migration.entry).bind(migration.plan).bind(migration.started);
  return put.bind(migration.ended).run("writing the journal of moves");
}

Result<std::vector<Migration>> Store::migrations(std::size_t most) {
  Statement all(db_,
                "SELECT id,entry,plan,started,ended FROM migrations WHERE ended IS NULL UNION ALL "
                "SELECT * FROM (SELECT id,entry,plan,started,ended FROM migrations "
                "WHERE ended IS NOT NULL ORDER BY ended DESC LIMIT ?)");
  all.bind(static_cast<std::int64_t>(most));
  std::vector<Migration> found;
  for (;;) {
    Result<bool> row = all.step("reading the journal of moves");
    if (!row) return row.error();
    if (!*row) return found;
    found.push_back(read_row(all));
  }
}

Result<Migration> Store::migration(const std::string& id) {
  Statement one(db_, "SELECT id,entry,plan,started,ended FROM migrations WHERE id=?");
  Result<bool> row = one.bind(id).step("reading the journal of moves");
  if (!row) return row.error();
  if (!*row) return errno_error(ENOENT, "there is no such move");
  return read_row(one);
}

}  // namespace flowcon::ctrl::store
