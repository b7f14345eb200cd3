// SPDX-License-Identifier: Apache-2.0
// What the store keeps of other hosts.
#include "tests/ctrl/store_folder.h"

using namespace flowcon::ctrl::store;

TEST_CASE("peers are kept under their names until they are forgotten") {
  const Folder folder;
  {
    const auto store = open(folder);
    REQUIRE(store->save_peer({"h3", "", "h3", 22}).has_value());
    REQUIRE(store->save_peer({"h2:2222", "ada", "h2", 22}).has_value());
    REQUIRE(store->save_peer({"h2:2222", "", "h2", 2222}).has_value());
  }
  const auto store = open(folder);
  auto peers = store->peers();
  REQUIRE((peers.has_value() && peers->size() == 2));
  CHECK(peers->front().name == "h2:2222");
  CHECK(peers->front().user.empty());
  CHECK(peers->front().port == 2222);
  REQUIRE(store->forget_peer("h2:2222").has_value());
  peers = store->peers();
  REQUIRE((peers.has_value() && peers->size() == 1));
  CHECK(peers->front().host == "h3");
}

TEST_CASE("which host a peer is, is kept until it is forgotten, and no two are the same") {
  const Folder folder;
  {
    const auto store = open(folder);
    REQUIRE(store->save_peer_id("h2", "a").has_value());
    REQUIRE(store->save_peer_id("h3", "b").has_value());
    REQUIRE(store->save_peer_id("h3:2222", "b").has_value());
    REQUIRE(store->save_peer_id("h4", "c").has_value());
    REQUIRE(store->forget_peer_id("h4").has_value());
  }
  const auto ids = open(folder)->peer_ids();
  REQUIRE(ids.has_value());
  CHECK(*ids == std::map<std::string, std::string>{{"h2", "a"}, {"h3:2222", "b"}});
}

TEST_CASE("a host keeps its id for good, and each start is a new incarnation") {
  const Folder folder;
  for (std::int64_t start = 1; start <= 3; ++start) {
    const auto store = open(folder);
    const auto identity = store->begin_incarnation("id-" + std::to_string(start));
    REQUIRE(identity.has_value());
    CHECK(identity->id == "id-1");
    CHECK(identity->incarnation == start);
    CHECK(identity->is_draining == (start == 3));
    if (start == 2) REQUIRE(store->save_draining(true).has_value());
  }
}
