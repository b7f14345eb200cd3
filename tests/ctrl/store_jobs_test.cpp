// SPDX-License-Identifier: Apache-2.0
// The queue's jobs in the journal.
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "tests/ctrl/store_folder.h"

using namespace flowcon::ctrl::store;

namespace {

namespace fs = std::filesystem;

std::string ids(Store& store, std::size_t most = 100) {
  const auto rows = store.queue_rows(most);
  REQUIRE(rows.has_value());
  std::string all;
  for (const QueueRow& row : *rows) all += (all.empty() ? "" : " ") + row.id;
  return all;
}

void overwrite(const std::string& path, std::streamoff from, std::size_t bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(from);
  file << std::string(bytes, '\xff');
}

// No file of this process grows beyond so many bytes, as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit limit{bytes, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~FullDisk() {
    (void)::setrlimit(RLIMIT_FSIZE, &before_);
    (void)std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

}  // namespace

TEST_CASE("jobs of the queue come as they were submitted, then those that ended last") {
  const Folder folder;
  {
    const auto store = open(folder);
    REQUIRE(store->save_queue_row({"late", "{}", 12, {}}).has_value());
    REQUIRE(store->save_queue_row({"early", "{}", 10.5, {}}).has_value());
    for (int i = 0; i < 4; ++i) {
      REQUIRE(store->save_queue_row({"done" + std::to_string(i), "{}", 1, 20.0 + i}).has_value());
    }
  }
  const auto store = open(folder);
  CHECK(ids(*store, 3) == "early late done3 done2 done1");
  CHECK(ids(*store, 0) == "early late");
  CHECK(store->queue_rows(0)->front().submitted == 10.5);
}

TEST_CASE("a job of the queue is changed, ends, and is forgotten") {
  const Folder folder;
  const auto store = open(folder);
  REQUIRE(store->save_queue_row({"a", "one", 10, {}}).has_value());
  REQUIRE(store->save_queue_row({"a", "two \xc3\xa9", 11, {}}).has_value());
  auto rows = store->queue_rows(0);
  REQUIRE((rows.has_value() && rows->size() == 1));
  CHECK(rows->front().entry == "two \xc3\xa9");
  CHECK(rows->front().submitted == 11);
  CHECK_FALSE(rows->front().ended);
  REQUIRE(store->save_queue_row({"a", "three", 11, 12.5}).has_value());
  CHECK(ids(*store, 0).empty());
  CHECK(store->queue_rows(1)->front().ended == 12.5);
  CHECK(*store->has_queue_row("a"));
  REQUIRE(store->forget_queue_rows(0, {"b", "a"}).has_value());
  REQUIRE(store->forget_queue_rows(1, {}).has_value());
  CHECK(*store->has_queue_row("a"));
  REQUIRE(store->save_queue_row({"open", "four", 13, {}}).has_value());
  REQUIRE(store->forget_queue_rows(0, {"b\"]"}).has_value());
  CHECK_FALSE(*store->has_queue_row("a"));
  CHECK(ids(*store) == "open");
}

TEST_CASE("a job that has ended is found by its id or its name, and is dropped") {
  const Folder folder;
  const auto store = open(folder);
  REQUIRE(store->save_queue_row({"a", R"({"name":"vae"})", 10, 11}).has_value());
  REQUIRE(store->save_queue_row({"b", R"({"name":"vae"})", 10, 12}).has_value());
  REQUIRE(store->save_queue_row({"c", R"({"name":"a"})", 10, 13}).has_value());
  REQUIRE(store->save_queue_row({"d", R"({"name":"open"})", 10, {}}).has_value());
  REQUIRE(store->save_queue_row({"e", "no JSON", 10, 14}).has_value());
  const auto found = [&](const std::string& name) {
    const auto row = store->find_queue_row(name);
    REQUIRE(row.has_value());
    return *row ? (*row)->id : "";
  };
  CHECK(found("vae") == "b");
  CHECK(found("a") == "a");
  CHECK(found("e") == "e");
  CHECK(found("open").empty());
  CHECK(found("d").empty());
  for (const char* id : {"b", "d"}) REQUIRE(store->drop_queue_row(id).has_value());
  CHECK(found("vae") == "a");
  CHECK(*store->has_queue_row("d"));
}

TEST_CASE("a job that a full disk did not take stays as it was saved before") {
  const Folder folder;
  const auto store = open(folder);
  REQUIRE(store->save_queue_row({"a", "before", 10, {}}).has_value());
  {
    const FullDisk disk(fs::file_size(folder.journal() + "-wal"));
    CHECK_FALSE(store->save_queue_row({"a", std::string(100000, 'x'), 10, {}}).has_value());
    CHECK(store->queue_rows(0)->front().entry == "before");
  }
  REQUIRE(store->save_queue_row({"a", "after", 10, {}}).has_value());
  CHECK(store->queue_rows(0)->front().entry == "after");
}

TEST_CASE("of a journal without its header the jobs are read all the same, open ones too") {
  const Folder folder;
  {
    const auto store = open(folder);
    REQUIRE(store->save_queue_row({"open", "running", 10, {}}).has_value());
    REQUIRE(store->save_queue_row({"ended", "done", 5, 20.0}).has_value());
  }
  overwrite(folder.journal(), 0, 100);
  std::string notice;
  const auto store = Store::open(folder.file(), &notice);
  REQUIRE(store.has_value());
  CHECK_FALSE((*store)->is_journal_whole());
  CHECK(ids(**store) == "open ended");
  CHECK((*store)->queue_rows(0)->front().entry == "running");
  CHECK((*store)->lost_moves()->empty());
  CHECK(notice.find("2 rows of it could be read, 0 of them migrations") != std::string::npos);
}

TEST_CASE("of a journal with a damaged page the jobs of the others are taken over") {
  const Folder folder;
  {
    const auto store = open(folder);
    for (int i = 0; i < 300; ++i) {
      const std::string id = "job" + std::to_string(i);
      REQUIRE(store->save_queue_row({id, std::string(300, ' '), 10, {}}).has_value());
    }
  }
  const auto size = static_cast<std::streamoff>(fs::file_size(folder.journal()));
  overwrite(folder.journal(), size / 2 / 4096 * 4096, 4096);
  std::string notice;
  const auto store = Store::open(folder.file(), &notice);
  REQUIRE(store.has_value());
  const std::size_t kept = (*store)->queue_rows(0)->size();
  // A page holds about twelve of them, or the ids' index.
  CHECK(kept > 250);
}
