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

inline std::unique_ptr<Store> open(const Folder& folder) {
  std::string notice;
  auto store = Store::open(folder.file(), &notice);
  REQUIRE(store.has_value());
  REQUIRE(notice.empty());
  return std::move(*store);
}

}  // namespace flowcon::ctrl::store
