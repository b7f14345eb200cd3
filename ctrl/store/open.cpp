// SPDX-License-Identifier: Apache-2.0
// Opening the store: schema, upgrades, and what to do with a damaged file.
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "base/text.h"
#include "ctrl/store/statement.h"
#include "ctrl/store/store.h"

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

// Step n makes version n+1 of version n; an empty file is version 0. Steps are only ever added.
constexpr std::array<const char*, 14> kSteps = {
    kFirst,     kResources, kPositions, kPeers, kMigrations, kMarks, kStays,
    kTrainings, kRunKinds,  kMoves,     kMoved, kPeerIds,    kPasts, kLives};
constexpr auto kSchemaVersion = static_cast<std::int64_t>(kSteps.size());

Result<void> execute(sqlite3* db, const std::string& sql, const std::string& doing) {
  if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return sqlite_error(db, doing);
  }
  return {};
}

// What SQLite finds wrong with the file is a row of text, not an error.
Result<void> check_pages(sqlite3* db, bool* is_damaged) {
  Statement ask(db, "PRAGMA quick_check(1)");
  Result<bool> row = ask.step("checking the state");
  if (!row) return row.error();
  if (*row && ask.text(0) == "ok") return {};
  *is_damaged = true;
  return bad_input("checking the state: " + printable(ask.text(0), 200));
}

bool is_damage(int code) {
  return (code & 0xff) == SQLITE_NOTADB || (code & 0xff) == SQLITE_CORRUPT;
}

Result<void> prepare(sqlite3* db, bool* is_damaged) {
  // WAL survives kill -9 at any moment. synchronous=NORMAL may lose the last transactions when the
  // power goes, and with the power the cgroups go too. By default the log grows to 4 MB before its
  // pages go to the database; a nearly full disk may not have them.
  if (auto r = execute(db,
                       "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
                       "PRAGMA cache_size=-1024; PRAGMA busy_timeout=2000;"
                       "PRAGMA wal_autocheckpoint=64;",
                       "opening the state");
      !r) {
    return r;
  }
  std::int64_t version = 0;
  {
    Statement ask(db, "PRAGMA user_version");
    Result<bool> row = ask.step("reading the state's version");
    if (!row) return row.error();
    version = ask.integer(0);
  }
  if (version > kSchemaVersion) {
    return bad_input("the state is of version " + std::to_string(version) + ", newer than this " +
                     "program knows (" + std::to_string(kSchemaVersion) +
                     "): install the newer flowcond again or name another --state-dir");
  }
  if (version > 0) {
    if (auto checked = check_pages(db, is_damaged); !checked || version == kSchemaVersion) {
      return checked;
    }
  }
  // All or nothing: after a crash in the middle the old version is there.
  std::string steps = "BEGIN IMMEDIATE;";
  for (auto step = version; step < kSchemaVersion; ++step) {
    steps += kSteps[static_cast<std::size_t>(step)];
  }
  steps += "PRAGMA user_version = " + std::to_string(kSchemaVersion) + ";COMMIT;";
  Result<void> done = execute(db, steps, "bringing the state's tables up to date");
  if (!done) (void)sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr);
  return done;
}

// Free name beside `path` for a file that is put aside.
std::string aside_name(const std::string& path) {
  for (int n = 1;; ++n) {
    std::string name = path + ".damaged-" + std::to_string(n);
    if (access(name.c_str(), F_OK) != 0) return name;
  }
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(const std::string& path, std::string* notice) {
  for (bool retried = false;; retried = true) {
    // SQLite would make the file by the umask; it holds container names, so it is ours alone.
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return errno_error(errno, "opening the state file " + path);
    ::close(fd);
    sqlite3* db = nullptr;
    if (sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr) !=
        SQLITE_OK) {
      Error error = sqlite_error(db, "opening the state file " + path);
      sqlite3_close(db);
      return error;
    }
    auto store = std::unique_ptr<Store>(new Store(db));
    bool is_damaged = false;
    Result<void> ready = prepare(db, &is_damaged);
    if (ready) return store;
    if (retried || (!is_damaged && !is_damage(sqlite3_extended_errcode(db)))) {
      return wrap(ready.error(), "state file " + path);
    }
    store.reset();
    const std::string aside = aside_name(path);
    if (std::rename(path.c_str(), aside.c_str()) != 0) {
      return errno_error(errno, "moving the damaged state file " + path + " aside");
    }
    std::remove((path + "-wal").c_str());
    std::remove((path + "-shm").c_str());
    *notice = "the state file was damaged (" + ready.error().message() + "); it is now " + aside +
              " and a new one was begun";
  }
}

Store::~Store() { sqlite3_close(db_); }

}  // namespace flowcon::ctrl::store
