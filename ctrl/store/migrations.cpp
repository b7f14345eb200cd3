// SPDX-License-Identifier: Apache-2.0
// The journal of moves between hosts. Entries that have ended are kept: the other side may ask
// late.
#include "ctrl/store/statement.h"
#include "ctrl/store/store.h"

namespace flowcon::ctrl::store {
namespace {

Migration read_row(const Statement& row) {
  return {row.text(0), row.text(1), row.text(2), row.number(3), row.number_if(4)};
}

}  // namespace

Result<void> Journal::save_migration(const Migration& migration) {
  constexpr const char* kDoing = "writing the journal of migrations";
  Transaction transaction(journal_);
  if (auto begun = transaction.begun(kDoing); !begun) return begun.error();
  // By its rowid it stays where it is, so that what is damaged can be read row by row.
  Statement put(journal_,
                "INSERT INTO migrations(id,entry,plan,started,ended) VALUES(?,?,?,?,?) "
                "ON CONFLICT(id) DO UPDATE SET entry=excluded.entry,plan=excluded.plan,"
                "started=excluded.started,ended=excluded.ended");
  put.bind(migration.id).bind(migration.entry).bind(migration.plan).bind(migration.started);
  if (auto done = put.bind(migration.ended).run(kDoing); !done) return done;
  Statement count(journal_, "UPDATE journal SET sequence=sequence+1");
  if (auto done = count.run(kDoing); !done) return done;
  if (auto done = transaction.commit(kDoing); !done) return done;
  mirror_journal();
  return {};
}

Result<std::vector<Migration>> Journal::migrations(std::size_t most) {
  Statement all(journal_,
                "SELECT id,entry,plan,started,ended FROM migrations WHERE ended IS NULL UNION ALL "
                "SELECT * FROM (SELECT id,entry,plan,started,ended FROM migrations "
                "WHERE ended IS NOT NULL ORDER BY ended DESC LIMIT ?)");
  all.bind(static_cast<std::int64_t>(most));
  return all.collect<std::vector<Migration>>("reading the journal of migrations",
                                             [&] { return read_row(all); });
}

Result<std::vector<std::string>> Journal::ended_migrations(std::size_t most) {
  Statement all(journal_,
                "SELECT entry FROM migrations WHERE ended IS NOT NULL ORDER BY ended DESC LIMIT ?");
  all.bind(static_cast<std::int64_t>(most));
  return all.collect<std::vector<std::string>>("reading the journal of migrations",
                                               [&] { return all.text(0); });
}

Result<Migration> Journal::migration(const std::string& id) {
  Statement one(journal_, "SELECT id,entry,plan,started,ended FROM migrations WHERE id=?");
  Result<bool> row = one.bind(id).step("reading the journal of migrations");
  if (!row) return row.error();
  if (!*row) return errno_error(ENOENT, "there is no such migration");
  return read_row(one);
}

Result<std::vector<LostMove>> Journal::lost_moves() {
  Statement all(journal_, "SELECT id,entry FROM lost_moves");
  return all.collect<std::vector<LostMove>>("reading the lost migrations", [&] {
    return LostMove{all.text(0), all.text(1)};
  });
}

void Journal::mirror_journal() {
  Statement ask(journal_,
                "SELECT sequence,coalesce((SELECT id FROM identity),''),"
                "coalesce((SELECT incarnation FROM identity),0) FROM journal");
  const Result<bool> row = ask.step("reading how far the journal is");
  if (!row || !*row) return;
  Statement put(records_, "UPDATE state SET sequence=?,host=?,incarnation=?");
  (void)put.bind(ask.integer(0)).bind(ask.text(1)).bind(ask.integer(2)).run("");
}

}  // namespace flowcon::ctrl::store
