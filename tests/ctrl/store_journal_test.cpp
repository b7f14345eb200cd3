// SPDX-License-Identifier: Apache-2.0
// What becomes of the journal when one file or the other is damaged, is lost, or is of an earlier
// version.
#include <fstream>

#include "ctrl/store/statement.h"
#include "tests/ctrl/store_folder.h"

using namespace flowcon::ctrl::store;

namespace {

namespace fs = std::filesystem;

void overwrite(const std::string& path, std::streamoff from, std::size_t bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(from);
  file << std::string(bytes, '\xff');
}

Migration move(const std::string& id, std::optional<double> ended) {
  return {id, "entry of " + id + std::string(300, ' '), "{}", 10, ended};
}

// A host with a peer, a move that has ended and one that has not, and a run.
void fill(Store& store) {
  REQUIRE(store.begin_incarnation("host-id").has_value());
  REQUIRE(store.save_peer({"h2", "", "h2", 22}).has_value());
  REQUIRE(store.save_peer_id("h2", "peer-id").has_value());
  REQUIRE(store.save_migration(move("ended", 20.0)).has_value());
  REQUIRE(store.save_migration(move("open", {})).has_value());
}
void fill(const Folder& folder) { fill(*open(folder)); }

struct Opened {
  explicit Opened(const Folder& folder) {
    auto opened = Store::open(folder.file(), &notice);
    INFO(notice);
    REQUIRE(opened.has_value());
    store = std::move(*opened);
  }
  std::string notice;
  std::unique_ptr<Store> store;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool knows_none(Store& store, const std::string& id) {
  const auto found = store.migration(id);
  return !found && found.error().code.value() == ENOENT;
}

}  // namespace

TEST_CASE("damaged records take nothing of the journal with them, and are kept with their log") {
  const Folder folder;
  fill(folder);
  std::ofstream(folder.file() + "-wal") << "changes";
  overwrite(folder.file(), 0, 65536);
  Opened opened(folder);
  CHECK(opened.store->is_journal_whole());
  CHECK(has(opened.notice, folder.file() + ".damaged-1"));
  CHECK(fs::exists(folder.file() + ".damaged-1"));
  CHECK(fs::exists(folder.file() + ".damaged-1-wal"));
  CHECK(opened.store->migration("open").has_value());
  CHECK(opened.store->migrations(10)->size() == 2);
  CHECK(opened.store->peers()->size() == 1);
  CHECK(opened.store->begin_incarnation("another")->id == "host-id");
  CHECK(opened.store->begin_incarnation("another")->incarnation == 3);
}

TEST_CASE(
    "a journal without its header is read all the same, and its open moves are not gone on with") {
  const Folder folder;
  fill(folder);
  overwrite(folder.journal(), 0, 100);
  {
    Opened opened(folder);
    CHECK_FALSE(opened.store->is_journal_whole());
    CHECK(has(opened.notice, opened.store->journal_lost_file()));
    CHECK(fs::exists(folder.journal() + ".damaged-1"));
    CHECK(opened.store->migration("ended").has_value());
    CHECK(knows_none(*opened.store, "open"));
    const auto lost = opened.store->lost_moves();
    REQUIRE((lost.has_value() && lost->size() == 1));
    CHECK(lost->front().id == "open");
    CHECK(opened.store->peers()->size() == 1);
    CHECK(opened.store->peer_ids()->at("h2") == "peer-id");
    const auto identity = opened.store->begin_incarnation("another");
    CHECK(identity->id == "host-id");
    CHECK(identity->incarnation > 1000);
  }
  {
    Opened again(folder);
    CHECK_FALSE(again.store->is_journal_whole());
    CHECK(again.store->lost_moves()->size() == 1);
    fs::remove(again.store->journal_lost_file());
  }
  Opened answered(folder);
  CHECK(answered.notice.empty());
  CHECK(answered.store->is_journal_whole());
  CHECK(answered.store->lost_moves()->empty());
}

TEST_CASE("the limits of an earlier flowcond's journal are of all kinds, damaged or not") {
  for (const bool is_damaged : {false, true}) {
    const Folder folder;
    Original original;
    original.id = "a";
    original.setting.memory.soft_bytes = 4096U;
    original.has_all_limits = false;
    REQUIRE(open(folder)->save_originals({original}).has_value());
    execute_at(folder.journal(), "ALTER TABLE originals DROP COLUMN has_all_limits");
    if (is_damaged) overwrite(folder.journal(), 0, 100);
    for (int start = 0; start < 2; ++start) {
      const Opened opened(folder);
      CHECK(opened.store->is_journal_whole() != is_damaged);
      const auto back = opened.store->originals();
      REQUIRE((back.has_value() && back->size() == 1));
      CHECK(back->front().setting == original.setting);
      CHECK(back->front().has_all_limits);
    }
  }
}

TEST_CASE("of a journal with a damaged page the rows of the others are taken over") {
  const Folder folder;
  {
    const auto store = open(folder);
    fill(*store);
    for (int i = 0; i < 300; ++i) {
      REQUIRE(store->save_migration(move("m" + std::to_string(i), 30.0)).has_value());
    }
  }
  const auto size = static_cast<std::streamoff>(fs::file_size(folder.journal()));
  overwrite(folder.journal(), size / 2 / 4096 * 4096, 4096);
  Opened opened(folder);
  CHECK_FALSE(opened.store->is_journal_whole());
  const std::size_t kept = opened.store->migrations(1000)->size();
  CHECK(kept > 250);
  CHECK(opened.store->begin_incarnation("another")->id == "host-id");
}

TEST_CASE("of a journal that is garbage who the host is remains, from the records") {
  const Folder folder;
  fill(folder);
  overwrite(folder.journal(), 0, fs::file_size(folder.journal()));
  Opened opened(folder);
  CHECK_FALSE(opened.store->is_journal_whole());
  CHECK(opened.store->begin_incarnation("another")->id == "host-id");
  CHECK(opened.store->migrations(10)->empty());
}

TEST_CASE("a journal that was cut short or removed is missed") {
  for (const bool is_removed : {false, true}) {
    const Folder folder;
    fill(folder);
    if (is_removed) {
      fs::remove(folder.journal());
    } else {
      fs::resize_file(folder.journal(), 4096);
    }
    Opened opened(folder);
    CHECK_FALSE(opened.store->is_journal_whole());
    CHECK(opened.store->begin_incarnation("another")->id == "host-id");
  }
}

TEST_CASE("a journal whose newest entries are gone with its log of changes is missed") {
  const Folder folder, killed;
  {
    const auto store = open(folder);
    fill(*store);
    fs::copy(folder.path, killed.path);
  }
  {
    // As it was left, nothing is missing.
    const Folder whole;
    fs::copy(killed.path, whole.path);
    Opened opened(whole);
    CHECK(opened.store->is_journal_whole());
    CHECK(opened.notice.empty());
    CHECK(opened.store->migrations(10)->size() == 2);
  }
  overwrite(killed.journal() + "-wal", 0, 40);
  Opened opened(killed);
  CHECK_FALSE(opened.store->is_journal_whole());
  CHECK(fs::exists(killed.journal() + ".damaged-1-wal"));
  CHECK(opened.store->begin_incarnation("another")->id == "host-id");
}

TEST_CASE("after a kill the journal is opened without a byte written, as on a full disk") {
  const Folder folder;
  Opened running(folder);
  fill(*running.store);
  // As a kill leaves it, where there is no room in its log that was used before.
  execute_at(folder.journal(), "PRAGMA wal_checkpoint(TRUNCATE)");
  const Folder left;
  fs::copy(folder.path, left.path, fs::copy_options::recursive);
  const std::string log = left.path + "/journal.db-wal";
  CHECK(fs::file_size(log) == 0);
  Opened again(left);
  CHECK(again.store->is_journal_whole());
  CHECK(fs::file_size(log) == 0);
}

TEST_CASE("a transaction that could not begin says so before its first statement") {
  const Folder folder;
  const std::string path = folder.path + "/t.db";
  sqlite3* one = nullptr;
  sqlite3* other = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &one) == SQLITE_OK);
  REQUIRE(sqlite3_open(path.c_str(), &other) == SQLITE_OK);
  REQUIRE(sqlite3_exec(one, "CREATE TABLE t(x)", nullptr, nullptr, nullptr) == SQLITE_OK);
  {
    const Transaction held(one);
    CHECK(held.begun("writing").has_value());
    const Transaction waiting(other);
    const auto begun = waiting.begun("writing");
    REQUIRE_FALSE(begun.has_value());
    CHECK(has(begun.error().message(), "writing"));
  }
  sqlite3_close(one);
  sqlite3_close(other);
}

TEST_CASE("without damage nothing is missed, killed or not, and a new host has lost nothing") {
  const Folder folder;
  Opened fresh(folder);
  CHECK(fresh.notice.empty());
  CHECK(fresh.store->is_journal_whole());
}
