// SPDX-License-Identifier: Apache-2.0
// What is kept of a run beside its records.
#include "tests/ctrl/store_folder.h"

using namespace flowcon;
using namespace flowcon::ctrl::store;

namespace {

Look look(const std::string& id, double time) {
  Look l;
  l.run.id = id;
  l.run.name = "vae";
  l.run.started = time;
  return l;
}

}  // namespace

TEST_CASE("which training a run was is kept, and that it had a counter once") {
  const Folder folder;
  const auto store = open(folder);
  Look first = look("a", 10);
  first.run.training = "t:1 python vae.py";
  first.run.has_counter = true;
  Look last = first;
  last.run.has_counter = false;
  REQUIRE(store->record({first}, {}).has_value());
  REQUIRE(store->record({last}, {}).has_value());
  const auto page = store->runs(0);
  REQUIRE((page.has_value() && page->runs.size() == 1));
  CHECK(page->runs.front().training == "t:1 python vae.py");
  CHECK(page->runs.front().has_counter);
  CHECK(store->history("a")->run.has_counter);
}

TEST_CASE("a run that left for another host is marked until it runs here again") {
  const Folder folder;
  const auto store = open(folder);
  Look left = look("a", 10);
  left.run.finished = 50;
  left.run.has_moved = true;
  REQUIRE(store->record({left, look("b", 10)}, {}).has_value());
  const auto page = store->runs(0);
  REQUIRE((page.has_value() && page->runs.size() == 2));
  CHECK(page->runs.front().has_moved);
  CHECK_FALSE(page->runs.back().has_moved);
  CHECK(store->history("a")->run.has_moved);
  // The move failed, and its host goes on with it.
  REQUIRE(store->record({look("a", 60)}, {}).has_value());
  CHECK_FALSE(store->history("a")->run.has_moved);
}

TEST_CASE("runs come in pages in the order of their starts, each once, those of one moment too") {
  const Folder folder;
  const auto store = open(folder);
  std::vector<Look> looks;
  for (const char* id : {"late", "a", "b", "c", "old"}) looks.push_back(look(id, 20));
  looks.front().run.started = 30;
  for (Look& one : looks) one.usage = UsageRow{40, 0.25, 4096, {}, {}};
  looks.back().run.started = 10;
  looks.back().usage->time = 15;
  REQUIRE(store->record(looks, {}).has_value());
  for (const std::size_t most_bytes : {std::size_t{1}, std::size_t{300}, std::size_t{100'000}}) {
    INFO(most_bytes << " bytes");
    std::string ids;
    RunPage page;
    do {
      const auto next = store->runs(20, page.last, most_bytes);
      REQUIRE((next.has_value() && !next->runs.empty()));
      page = *next;
      for (const Run& run : page.runs) ids += run.id + " ";
      CHECK((most_bytes > 1 || page.runs.size() == 1));
    } while (page.has_more);
    CHECK(ids == "a b c late ");
  }
  const auto behind = store->runs(20, {30, 1'000'000});
  REQUIRE(behind.has_value());
  CHECK((behind->runs.empty() && !behind->has_more));
}
