// SPDX-License-Identifier: Apache-2.0
// What runs that ended well needed: bounded by key, by number, by age and by format.
#include <algorithm>

#include "tests/ctrl/store_folder.h"

using namespace flowcon;
using namespace flowcon::ctrl::store;

namespace {

constexpr double kEver = -1e300;
constexpr std::size_t kAll = 1U << 30;

ProfileRow row(const std::string& key, double ended) {
  return {key, "family", R"({"workers":1})", R"({"mem":1})", ended};
}

std::vector<double> ends(Store& store) {
  const auto page = store.profiles(kEver, 0, kAll);
  REQUIRE(page.has_value());
  std::vector<double> all;
  for (const ProfileRow& profile : page->profiles) all.push_back(profile.ended);
  std::sort(all.begin(), all.end());
  return all;
}

Look used(const std::string& id, double time, std::uint64_t memory) {
  Look look;
  look.run.id = id;
  look.run.started = 10;
  look.usage = UsageRow{time, 0.5, memory, {}, {}};
  look.samples = {{time - 1, 0.5}};
  return look;
}

}  // namespace

TEST_CASE("a profile is read as it was written") {
  const Folder folder;
  const auto store = open(folder);
  REQUIRE(store->save_profile(row("k", 7)).has_value());
  const auto page = store->profiles(kEver, 0, kAll);
  REQUIRE((page.has_value() && page->profiles.size() == 1));
  CHECK_FALSE(page->has_more);
  const ProfileRow& read = page->profiles.front();
  CHECK(read.key == "k");
  CHECK(read.family == "family");
  CHECK(read.features == R"({"workers":1})");
  CHECK(read.labels == R"({"mem":1})");
  CHECK(read.ended == 7);
}

TEST_CASE("the last five profiles of a key are kept, by their end") {
  const Folder folder;
  const auto store = open(folder);
  for (const double ended : {6, 1, 2, 3, 4, 5}) {
    REQUIRE(store->save_profile(row("a", ended)).has_value());
  }
  REQUIRE(store->save_profile(row("b", 0.5)).has_value());
  CHECK(ends(*store) == std::vector<double>{0.5, 2, 3, 4, 5, 6});
}

TEST_CASE("the last 2,000 profiles are kept") {
  static_assert(kProfileFormat == 2);  // as inserted here
  const Folder folder;
  const auto store = open(folder);
  execute(folder,
          "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<1999) INSERT INTO "
          "profiles SELECT 'k'||i,'f','{}','{}',i,2 FROM n");
  CHECK(ends(*store).size() == 2000);
  REQUIRE(store->save_profile(row("new", 5000)).has_value());
  const std::vector<double> kept = ends(*store);
  CHECK(kept.size() == 2000);
  CHECK(kept.front() == 1);
  CHECK(kept.back() == 5000);
}

TEST_CASE("profiles go with their age") {
  const Folder folder;
  const auto store = open(folder);
  for (const double ended : {10, 20, 30}) {
    REQUIRE(store->save_profile(row(std::to_string(ended), ended)).has_value());
  }
  REQUIRE(store->forget_before(20, 30).has_value());
  CHECK(ends(*store) == std::vector<double>{20, 30});
}

TEST_CASE("profiles come in parts, each once, in the order in which they were saved") {
  const Folder folder;
  const auto store = open(folder);
  REQUIRE(store->save_profile(row("a", 7)).has_value());
  REQUIRE(store->save_profile(row("b", 7)).has_value());
  REQUIRE(store->save_profile(row("old", 1)).has_value());
  REQUIRE(store->save_profile(row("c", 5)).has_value());
  std::string keys;
  std::int64_t after = 0;
  for (int part = 0; part < 3; ++part) {
    const auto page = store->profiles(2, after, 1);
    REQUIRE((page.has_value() && page->profiles.size() == 1));
    CHECK(page->has_more == (part < 2));
    keys += page->profiles.front().key;
    after = page->after;
  }
  CHECK(keys == "abc");
}

TEST_CASE("a profile that is saved late comes behind those that were read before") {
  const Folder folder;
  const auto store = open(folder);
  REQUIRE(store->save_profile(row("a", 10)).has_value());
  const auto read = store->profiles(kEver, 0, kAll);
  REQUIRE(read.has_value());
  REQUIRE(store->save_profile(row("late", 5)).has_value());
  const auto page = store->profiles(kEver, read->after, kAll);
  REQUIRE((page.has_value() && page->profiles.size() == 1));
  CHECK(page->profiles.front().key == "late");
}

TEST_CASE("who has read more than there is now reads from the beginning") {
  const Folder folder;
  const auto store = open(folder);
  for (const char* key : {"a", "b"}) REQUIRE(store->save_profile(row(key, 7)).has_value());
  REQUIRE(store->profiles(kEver, 2, kAll)->profiles.empty());
  execute(folder, "DELETE FROM profiles");
  CHECK(store->profiles(kEver, 2, kAll)->profiles.empty());
  REQUIRE(store->save_profile(row("new", 8)).has_value());
  const auto page = store->profiles(kEver, 2, kAll);
  REQUIRE((page.has_value() && page->profiles.size() == 1));
  CHECK(page->profiles.front().key == "new");
}

TEST_CASE("a part is as long as it is written for others") {
  const Folder folder;
  const auto store = open(folder);
  for (const char* key : {"a", "b"}) {
    ProfileRow strange = row(key, 7);
    strange.family = std::string(100, '\x01');  // each one becomes six bytes
    REQUIRE(store->save_profile(strange).has_value());
  }
  const auto page = store->profiles(kEver, 0, 600);
  REQUIRE(page.has_value());
  CHECK(page->profiles.size() == 1);
  CHECK(page->has_more);
}

TEST_CASE("profiles of another format are not read") {
  const Folder folder;
  const auto store = open(folder);
  REQUIRE(store->save_profile(row("a", 1)).has_value());
  REQUIRE(store->save_profile(row("b", 2)).has_value());
  execute(folder, "UPDATE profiles SET format=1 WHERE key='a'");
  CHECK(ends(*store) == std::vector<double>{2});
}

TEST_CASE("what was seen of a container before is of this life, and of its hosts before") {
  const Folder folder;
  const auto store = open(folder);
  REQUIRE(store
              ->record({used("a", 12, 900), used("a", 22, 500), used("a", 32, 700),
                        used("a", 42, 800), used("b", 22, 999)},
                       {})
              .has_value());
  auto seen = store->seen_before("a", 20, 40);
  REQUIRE(seen.has_value());
  CHECK(seen->began == 20);
  CHECK(seen->until == 32);
  CHECK(seen->memory == 700);
  CHECK(seen->value_at == 21);
  execute(folder, "INSERT INTO stays SELECT number,'gpu1',11,19 FROM runs WHERE id='a'");
  seen = store->seen_before("a", 20, 40);
  REQUIRE(seen.has_value());
  CHECK(seen->began == 11);
  CHECK(seen->memory == 900);
  seen = store->seen_before("c", 20, 40);
  REQUIRE(seen.has_value());
  CHECK(seen->until == 20);
  CHECK(seen->memory == 0);
  CHECK_FALSE(seen->value_at.has_value());
}
