// SPDX-License-Identifier: Apache-2.0
#include "ctrl/store/schema.h"

#include <array>
#include <cstddef>

#include "ctrl/store/statement.h"

namespace flowcon::ctrl::store {
namespace {

// Version 1, the first that was used.
constexpr const char* kFirst = R"sql(
CREATE TABLE originals(
  id TEXT PRIMARY KEY, name TEXT NOT NULL,
  cpu TEXT NOT NULL, cpuacct TEXT NOT NULL, memory TEXT NOT NULL, scope TEXT NOT NULL,
  weight INTEGER NOT NULL, quota_us INTEGER, period_us INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE choices(
  id TEXT PRIMARY KEY, released INTEGER NOT NULL, settings TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE runs(
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, image TEXT NOT NULL,
  metric TEXT NOT NULL, goal TEXT NOT NULL, started REAL NOT NULL, finished REAL,
  seen REAL NOT NULL);
CREATE INDEX runs_by_name ON runs(name, started);
CREATE TABLE samples(run INTEGER NOT NULL, time REAL NOT NULL, value TEXT NOT NULL);
CREATE INDEX samples_by_run ON samples(run, time);
CREATE TABLE usage(run INTEGER NOT NULL, time REAL NOT NULL, cpu REAL NOT NULL,
  memory INTEGER NOT NULL);
CREATE INDEX usage_by_run ON usage(run, time);
CREATE TABLE decisions(run INTEGER NOT NULL, time REAL NOT NULL, list TEXT NOT NULL,
  share REAL NOT NULL, growth REAL);
CREATE INDEX decisions_by_run ON decisions(run, time);
CREATE TABLE rounds(time REAL NOT NULL, algorithm TEXT NOT NULL, state TEXT NOT NULL,
  decision TEXT NOT NULL);
CREATE INDEX rounds_by_time ON rounds(time);
)sql";

// What people decide about a container beside adopt and release, the other resources' limits and
// use.
constexpr const char* kResources = R"sql(
ALTER TABLE choices ADD COLUMN control TEXT NOT NULL DEFAULT '';
ALTER TABLE rounds ADD COLUMN resource TEXT NOT NULL DEFAULT 'cpu';
ALTER TABLE usage ADD COLUMN io REAL;
ALTER TABLE usage ADD COLUMN network REAL;
ALTER TABLE originals ADD COLUMN io TEXT NOT NULL DEFAULT '';
ALTER TABLE originals ADD COLUMN soft_bytes INTEGER;
ALTER TABLE originals ADD COLUMN io_weight INTEGER;
ALTER TABLE originals ADD COLUMN io_caps TEXT NOT NULL DEFAULT '';
)sql";

// How far each log was read, told by the look that recorded what it held up to there.
constexpr const char* kPositions = R"sql(
CREATE TABLE positions(
  id TEXT PRIMARY KEY, log TEXT NOT NULL, position TEXT NOT NULL) WITHOUT ROWID;
)sql";

// Other hosts, and who this one is to them.
constexpr const char* kPeers = R"sql(
CREATE TABLE peers(
  name TEXT PRIMARY KEY, user TEXT NOT NULL, host TEXT NOT NULL, port INTEGER NOT NULL)
  WITHOUT ROWID;
CREATE TABLE identity(
  one INTEGER PRIMARY KEY CHECK(one = 1), id TEXT NOT NULL, incarnation INTEGER NOT NULL,
  draining INTEGER NOT NULL);
)sql";

// The journal of moves between hosts.
constexpr const char* kMigrations = R"sql(
CREATE TABLE migrations(
  id TEXT PRIMARY KEY, entry TEXT NOT NULL, plan TEXT NOT NULL, started REAL NOT NULL, ended REAL)
  WITHOUT ROWID;
)sql";

// What the policy over several hosts remembers of each container. Times are those of this host.
constexpr const char* kMarks = R"sql(
CREATE TABLE marks(
  id TEXT PRIMARY KEY, category TEXT NOT NULL, value REAL, growth REAL, seen REAL NOT NULL,
  converged REAL, migrated REAL, rebalanced INTEGER NOT NULL) WITHOUT ROWID;
)sql";

// Where a container was before it came to this host.
constexpr const char* kStays = R"sql(
CREATE TABLE stays(run INTEGER NOT NULL, host TEXT NOT NULL, began REAL NOT NULL,
  ended REAL NOT NULL);
CREATE INDEX stays_by_run ON stays(run);
)sql";

// What runs that ended were like.
constexpr const char* kTrainings = R"sql(
CREATE TABLE trainings(training TEXT NOT NULL, ended REAL NOT NULL, total REAL NOT NULL,
  share90 REAL);
CREATE INDEX trainings_by_name ON trainings(training, ended);
)sql";

// Which training a run was, and whether it printed how far it was.
constexpr const char* kRunKinds = R"sql(
ALTER TABLE runs ADD COLUMN training TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN counter INTEGER NOT NULL DEFAULT 0;
)sql";

// How often a policy moved a container.
constexpr const char* kMoves = R"sql(
ALTER TABLE marks ADD COLUMN moves INTEGER NOT NULL DEFAULT 0;
)sql";

// Whether a run that ended here was but a part of it.
constexpr const char* kMoved = R"sql(
ALTER TABLE runs ADD COLUMN moved INTEGER NOT NULL DEFAULT 0;
)sql";

// Which id each other host had when it was first reached.
constexpr const char* kPeerIds = R"sql(
CREATE TABLE peer_ids(name TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE) WITHOUT ROWID;
)sql";

// What was known of a job's work when it left a host, as JSON.
constexpr const char* kPasts = R"sql(
CREATE TABLE pasts(id TEXT PRIMARY KEY, past TEXT NOT NULL) WITHOUT ROWID;
)sql";

// Which life of its container an original belongs to.
constexpr const char* kLives = R"sql(
ALTER TABLE originals ADD COLUMN life TEXT NOT NULL DEFAULT '';
)sql";

// What must not be lost is in the journal; what is deleted is found by its time. `state`: whether
// the file was closed, up to which time older records were thinned, and how far the journal was.
constexpr const char* kJournalApart = R"sql(
DROP TABLE originals;
DROP TABLE choices;
DROP TABLE peers;
DROP TABLE identity;
DROP TABLE migrations;
DROP TABLE peer_ids;
CREATE INDEX samples_by_time ON samples(time);
CREATE INDEX usage_by_time ON usage(time);
CREATE INDEX decisions_by_time ON decisions(time);
CREATE TABLE state(
  one INTEGER PRIMARY KEY CHECK(one = 1), clean INTEGER NOT NULL, thinned REAL NOT NULL,
  sequence INTEGER NOT NULL, host TEXT NOT NULL, incarnation INTEGER NOT NULL);
INSERT INTO state VALUES(1,0,-1e300,0,'',0);
)sql";

// Step n makes version n+1 of version n; an empty file is version 0. Steps are only ever added.
constexpr std::array<const char*, 15> kSteps = {
    kFirst,    kResources, kPositions, kPeers,   kMigrations, kMarks, kStays,       kTrainings,
    kRunKinds, kMoves,     kMoved,     kPeerIds, kPasts,      kLives, kJournalApart};
static_assert(kSteps.size() == kRecordsVersion);

// Tables with rowids, so that of a damaged file each row can be asked for.
constexpr const char* kJournal = R"sql(
CREATE TABLE originals(
  id TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
  cpu TEXT NOT NULL, cpuacct TEXT NOT NULL, memory TEXT NOT NULL, scope TEXT NOT NULL,
  io TEXT NOT NULL, weight INTEGER NOT NULL, quota_us INTEGER, period_us INTEGER NOT NULL,
  soft_bytes INTEGER, io_weight INTEGER, io_caps TEXT NOT NULL, life TEXT NOT NULL);
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
CREATE TABLE lost_moves(id TEXT NOT NULL UNIQUE, entry TEXT NOT NULL);
CREATE TABLE journal(
  one INTEGER PRIMARY KEY CHECK(one = 1), sequence INTEGER NOT NULL, taken_over INTEGER NOT NULL);
INSERT INTO journal VALUES(1,0,0);
)sql";

// All or nothing: after a crash in the middle the old version is there.
Result<void> in_one(sqlite3* db, const std::string& sql, std::int64_t version) {
  const std::string all =
      "BEGIN IMMEDIATE;" + sql + "PRAGMA user_version = " + std::to_string(version) + ";COMMIT;";
  Result<void> done = execute(db, all, "bringing the state's tables up to date");
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

Result<void> bring_records(sqlite3* db, std::int64_t from, std::int64_t to) {
  std::string sql;
  for (auto step = from; step < to; ++step) sql += kSteps[static_cast<std::size_t>(step)];
  return from < to ? in_one(db, sql, to) : Result<void>();
}

Result<void> make_journal(sqlite3* db) { return in_one(db, kJournal, kJournalVersion); }

const std::vector<KeptTable>& kept_tables() {
  static const std::vector<KeptTable> all = {
      {"originals", "id",
       "id,name,cpu,cpuacct,memory,scope,io,weight,quota_us,period_us,soft_bytes,io_weight,"
       "io_caps,life"},
      {"choices", "id", "id,released,settings,control"},
      {"peers", "name", "name,user,host,port"},
      {"peer_ids", "name", "name,id"},
      {"identity", "one", "one,id,incarnation,draining"},
      {"migrations", "id", "id,entry,plan,started,ended"},
  };
  return all;
}

}  // namespace flowcon::ctrl::store
