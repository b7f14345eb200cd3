// SPDX-License-Identifier: Apache-2.0
// A store in a folder of its own, for its tests.
#pragma once

#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "ctrl/store/store.h"
#include "tests/support/catch.h"

namespace flowcon::ctrl::store {

struct Folder {
  Folder() {
    char name[] = "/tmp/flowcon-store-XXXXXX";
    path = ::mkdtemp(name);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
  [[nodiscard]] std::string file() const { return path + "/flowcon.db"; }
  [[nodiscard]] std::string journal() const { return path + "/journal.db"; }
  std::string path;
};

/// By another connection.
inline void execute_at(const std::string& path, const char* sql) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  CHECK(sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(db);
}
inline void execute(const Folder& folder, const char* sql) { execute_at(folder.file(), sql); }

/// The state as the last version made it that kept all in one file, without rows.
inline void make_one_file(const Folder& folder) {
  execute(folder, R"sql(
CREATE TABLE originals(
  id TEXT PRIMARY KEY, name TEXT NOT NULL,
  cpu TEXT NOT NULL, cpuacct TEXT NOT NULL, memory TEXT NOT NULL, scope TEXT NOT NULL,
  weight INTEGER NOT NULL, quota_us INTEGER, period_us INTEGER NOT NULL,
  io TEXT NOT NULL DEFAULT '', soft_bytes INTEGER, io_weight INTEGER,
  io_caps TEXT NOT NULL DEFAULT '') WITHOUT ROWID;
CREATE TABLE choices(
  id TEXT PRIMARY KEY, released INTEGER NOT NULL, settings TEXT NOT NULL,
  control TEXT NOT NULL DEFAULT '') WITHOUT ROWID;
CREATE TABLE runs(
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, image TEXT NOT NULL,
  metric TEXT NOT NULL, goal TEXT NOT NULL, started REAL NOT NULL, finished REAL,
  seen REAL NOT NULL, training TEXT NOT NULL DEFAULT '', counter INTEGER NOT NULL DEFAULT 0,
  moved INTEGER NOT NULL DEFAULT 0);
CREATE INDEX runs_by_name ON runs(name, started);
CREATE TABLE samples(run INTEGER NOT NULL, time REAL NOT NULL, value TEXT NOT NULL);
CREATE INDEX samples_by_run ON samples(run, time);
CREATE TABLE usage(run INTEGER NOT NULL, time REAL NOT NULL, cpu REAL NOT NULL,
  memory INTEGER NOT NULL, io REAL, network REAL);
CREATE INDEX usage_by_run ON usage(run, time);
CREATE TABLE decisions(run INTEGER NOT NULL, time REAL NOT NULL, list TEXT NOT NULL,
  share REAL NOT NULL, growth REAL);
CREATE INDEX decisions_by_run ON decisions(run, time);
CREATE TABLE rounds(time REAL NOT NULL, algorithm TEXT NOT NULL, state TEXT NOT NULL,
  decision TEXT NOT NULL, resource TEXT NOT NULL DEFAULT 'cpu');
CREATE INDEX rounds_by_time ON rounds(time);
CREATE TABLE positions(
  id TEXT PRIMARY KEY, log TEXT NOT NULL, position TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE peers(
  name TEXT PRIMARY KEY, user TEXT NOT NULL, host TEXT NOT NULL, port INTEGER NOT NULL)
  WITHOUT ROWID;
CREATE TABLE identity(
  one INTEGER PRIMARY KEY CHECK(one = 1), id TEXT NOT NULL, incarnation INTEGER NOT NULL,
  draining INTEGER NOT NULL);
CREATE TABLE migrations(
  id TEXT PRIMARY KEY, entry TEXT NOT NULL, plan TEXT NOT NULL, started REAL NOT NULL, ended REAL)
  WITHOUT ROWID;
CREATE TABLE marks(
  id TEXT PRIMARY KEY, category TEXT NOT NULL, value REAL, growth REAL, seen REAL NOT NULL,
  converged REAL, migrated REAL, rebalanced INTEGER NOT NULL, moves INTEGER NOT NULL DEFAULT 0)
  WITHOUT ROWID;
CREATE TABLE stays(run INTEGER NOT NULL, host TEXT NOT NULL, began REAL NOT NULL,
  ended REAL NOT NULL);
CREATE INDEX stays_by_run ON stays(run);
CREATE TABLE trainings(training TEXT NOT NULL, ended REAL NOT NULL, total REAL NOT NULL,
  share90 REAL);
CREATE INDEX trainings_by_name ON trainings(training, ended);
CREATE TABLE peer_ids(name TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE) WITHOUT ROWID;
CREATE TABLE pasts(id TEXT PRIMARY KEY, past TEXT NOT NULL) WITHOUT ROWID;
PRAGMA user_version = 13;
)sql");
}

inline std::unique_ptr<Store> open(const Folder& folder) {
  std::string notice;
  auto store = Store::open(folder.file(), &notice);
  REQUIRE(store.has_value());
  REQUIRE(notice.empty());
  return std::move(*store);
}

}  // namespace flowcon::ctrl::store
