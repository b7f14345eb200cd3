// SPDX-License-Identifier: Apache-2.0
#include "ctrl/store/schema.h"

#include "ctrl/store/statement.h"

namespace flowcon::ctrl::store {
namespace {

// What is deleted is found by its time. A row of `samples` is values in order, see samples.h.
// `profiles`: what runs that ended well needed, see profiles.h. `pasts`: what was known of a job's
// work when it left a host, as JSON. `state`: whether the file
// was closed, up to which time older records were thinned, and how far the journal was.
constexpr const char* kRecords = R"sql(
CREATE TABLE runs(
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, image TEXT NOT NULL,
  metric TEXT NOT NULL, goal TEXT NOT NULL, started REAL NOT NULL, finished REAL,
  seen REAL NOT NULL, training TEXT NOT NULL, counter INTEGER NOT NULL, moved INTEGER NOT NULL,
  status INTEGER);
CREATE INDEX runs_by_name ON runs(name, started);
CREATE TABLE samples(run INTEGER NOT NULL, time REAL NOT NULL, until REAL NOT NULL,
  count INTEGER NOT NULL, packed BLOB NOT NULL);
CREATE INDEX samples_by_run ON samples(run, time);
CREATE INDEX samples_by_time ON samples(time);
CREATE TABLE usage(run INTEGER NOT NULL, time REAL NOT NULL, cpu REAL NOT NULL,
  memory INTEGER NOT NULL, io REAL, network REAL);
CREATE INDEX usage_by_run ON usage(run, time);
CREATE INDEX usage_by_time ON usage(time);
CREATE TABLE decisions(run INTEGER NOT NULL, time REAL NOT NULL, list TEXT NOT NULL,
  share REAL NOT NULL, growth REAL);
CREATE INDEX decisions_by_run ON decisions(run, time);
CREATE INDEX decisions_by_time ON decisions(time);
CREATE TABLE rounds(time REAL NOT NULL, algorithm TEXT NOT NULL, state TEXT NOT NULL,
  decision TEXT NOT NULL, resource TEXT NOT NULL);
CREATE INDEX rounds_by_time ON rounds(time);
CREATE TABLE stays(run INTEGER NOT NULL, host TEXT NOT NULL, began REAL NOT NULL,
  ended REAL NOT NULL);
CREATE INDEX stays_by_run ON stays(run);
CREATE TABLE positions(
  id TEXT PRIMARY KEY, log TEXT NOT NULL, position TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE marks(
  id TEXT PRIMARY KEY, category TEXT NOT NULL, value REAL, growth REAL, seen REAL NOT NULL,
  converged REAL, migrated REAL, rebalanced INTEGER NOT NULL, moves INTEGER NOT NULL)
  WITHOUT ROWID;
CREATE TABLE trainings(training TEXT NOT NULL, ended REAL NOT NULL, total REAL NOT NULL,
  share90 REAL);
CREATE INDEX trainings_by_name ON trainings(training, ended);
CREATE TABLE profiles(key TEXT NOT NULL, family TEXT NOT NULL, features TEXT NOT NULL,
  labels TEXT NOT NULL, ended REAL NOT NULL, format INTEGER NOT NULL);
CREATE INDEX profiles_by_key ON profiles(key, ended);
CREATE INDEX profiles_by_end ON profiles(ended);
CREATE TABLE pasts(id TEXT PRIMARY KEY, past TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE state(
  one INTEGER PRIMARY KEY CHECK(one = 1), clean INTEGER NOT NULL, thinned REAL NOT NULL,
  sequence INTEGER NOT NULL, host TEXT NOT NULL, incarnation INTEGER NOT NULL);
INSERT INTO state VALUES(1,0,-1e300,0,'',0);
)sql";

// Tables with rowids, so that of a damaged file each row can be asked for.
constexpr const char* kJournal = R"sql(
CREATE TABLE originals(
  id TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
  cpu TEXT NOT NULL, cpuacct TEXT NOT NULL, memory TEXT NOT NULL, scope TEXT NOT NULL,
  io TEXT NOT NULL, weight INTEGER NOT NULL, quota_us INTEGER, period_us INTEGER NOT NULL,
  soft_bytes INTEGER, io_weight INTEGER, io_caps TEXT NOT NULL, life TEXT NOT NULL,
  has_all_limits INTEGER NOT NULL DEFAULT 1);
CREATE TABLE choices(
  id TEXT NOT NULL UNIQUE, released INTEGER NOT NULL, settings TEXT NOT NULL,
  control TEXT NOT NULL);
CREATE TABLE peers(
  name TEXT NOT NULL UNIQUE, user TEXT NOT NULL, host TEXT NOT NULL, port INTEGER NOT NULL);
CREATE TABLE peer_ids(name TEXT NOT NULL UNIQUE, id TEXT NOT NULL UNIQUE);
CREATE TABLE identity(
  one INTEGER PRIMARY KEY CHECK(one = 1), id TEXT NOT NULL, incarnation INTEGER NOT NULL,
  draining INTEGER NOT NULL);
CREATE TABLE migrations(
  id TEXT NOT NULL UNIQUE, entry TEXT NOT NULL, plan TEXT NOT NULL, started REAL NOT NULL,
  ended REAL);
CREATE TABLE jobs(
  id TEXT NOT NULL UNIQUE, entry TEXT NOT NULL, submitted REAL NOT NULL, ended REAL);
CREATE TABLE lost_moves(id TEXT NOT NULL UNIQUE, entry TEXT NOT NULL);
CREATE TABLE journal(one INTEGER PRIMARY KEY CHECK(one = 1), sequence INTEGER NOT NULL);
INSERT INTO journal VALUES(1,0);
)sql";

// All or nothing: after a crash in the middle the file is empty.
Result<void> in_one(sqlite3* db, const std::string& sql, std::int64_t version) {
  const std::string all =
      "BEGIN IMMEDIATE;" + sql + "PRAGMA user_version = " + std::to_string(version) + ";COMMIT;";
  Result<void> done = execute(db, all, "making the state's tables");
  if (!done) (void)sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr);
  return done;
}

}  // namespace

Result<std::int64_t> version_of(sqlite3* db) {
  Statement ask(db, "PRAGMA user_version");
  Result<bool> row = ask.step("reading the state's version");
  if (!row) return row.error();
  return ask.integer(0);
}

Result<void> make_records(sqlite3* db) { return in_one(db, kRecords, kRecordsVersion); }

Result<void> make_journal(sqlite3* db) { return in_one(db, kJournal, kJournalVersion); }

Result<void> complete_journal(sqlite3* db) {
  const std::string doing = "completing the journal";
  Statement ask(db, "SELECT 1 FROM pragma_table_info('originals') WHERE name='has_all_limits'");
  const Result<bool> has_all = ask.step(doing);
  if (!has_all) return has_all.error();
  if (*has_all) return {};
  ask.reset();
  const char* add = "ALTER TABLE originals ADD COLUMN has_all_limits INTEGER NOT NULL DEFAULT 1";
  return execute(db, add, doing);
}

const std::vector<KeptTable>& kept_tables() {
  static const std::vector<KeptTable> all = {
      {"originals",
       "id,name,cpu,cpuacct,memory,scope,io,weight,quota_us,period_us,soft_bytes,io_weight,"
       "io_caps,life,has_all_limits"},
      // Of an earlier flowcond, see complete_journal().
      {"originals",
       "id,name,cpu,cpuacct,memory,scope,io,weight,quota_us,period_us,soft_bytes,io_weight,"
       "io_caps,life"},
      {"choices", "id,released,settings,control"},
      {"peers", "name,user,host,port"},
      {"peer_ids", "name,id"},
      {"identity", "one,id,incarnation,draining"},
      {"migrations", "id,entry,plan,started,ended"},
      {"jobs", "id,entry,submitted,ended"},
  };
  return all;
}

}  // namespace flowcon::ctrl::store
