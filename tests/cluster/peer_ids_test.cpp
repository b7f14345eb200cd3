// SPDX-License-Identifier: Apache-2.0
// Whose word counts for whom, where a peer says that it is another one.
#include "tests/cluster/peer_hosts.h"

namespace flowcon::cluster {
namespace {

using namespace test;

const std::string kB = host_id('b'), kC = host_id('c');

TEST_CASE("a peer that says it is another one speaks for nobody, whoever is reached first") {
  Hosts hosts;
  hosts.says("b", kB);
  hosts.says("c", kC);
  hosts.start({"b", "c"});
  REQUIRE(hosts.reaches("b"));
  REQUIRE(hosts.reaches("c"));
  hosts.says("c", kB);
  // b cannot be reached when flowcond starts again, and is behind c in the list.
  hosts.says("b", "no id");
  hosts.start({"c", "b"});
  REQUIRE(hosts.refuses("c", "docker flowcon peer add c again"));
  CHECK(hosts.seen("c").id.empty());
  CHECK(hosts.here->links().speaker_of("c")->name == "c");
  CHECK(hosts.leads_to(kB).empty());
  hosts.says("b", kB);
  REQUIRE(hosts.reaches("b"));
  CHECK(hosts.leads_to(kB) == "b");
  CHECK(hosts.here->links().speaker_of("b")->name == "b");
  CHECK(hosts.here->links().speaker_of("c")->name == "c");
}

TEST_CASE("a new peer that says it is another one is refused") {
  Hosts hosts;
  hosts.says("b", kB);
  hosts.start({"b"});
  REQUIRE(hosts.reaches("b"));
  hosts.says("c", kB);
  hosts.start({"c", "b"});
  REQUIRE(hosts.refuses("c", "c says that it is b, and has another host key"));
  REQUIRE(hosts.reaches("b"));
  CHECK(hosts.here->links().speaker_of("c")->name == "c");
  CHECK(hosts.leads_to(kB) == "b");
}

TEST_CASE("a host under a second name is used once, and speaks under both") {
  Hosts hosts;
  hosts.says("b", kB);
  hosts.says("b2", kB);
  // The first of two names is the one that was reached first.
  hosts.start({"b"});
  REQUIRE(hosts.reaches("b"));
  hosts.start({"b", "b2"});
  REQUIRE(hosts.reaches("b"));
  REQUIRE(hosts.waits_for([&] { return hosts.seen("b2").name.empty(); }));
  CHECK(hosts.here->links().speaker_of("b2")->name == "b");
  CHECK(hosts.here->links().speaker_of("b")->name == "b");
  CHECK(hosts.leads_to(kB) == "b");
}

TEST_CASE("a host with a new state is refused until it is added once more") {
  Hosts hosts;
  hosts.says("b", kB);
  hosts.start({"b"});
  REQUIRE(hosts.reaches("b"));
  const std::string fresh = host_id('d');
  hosts.says("b", fresh);
  hosts.start({"b"});
  REQUIRE(hosts.refuses("b", "b has another id than before"));
  CHECK(hosts.leads_to(fresh).empty());
  hosts.add_once_more("b");
  REQUIRE(hosts.reaches("b"));
  CHECK(hosts.leads_to(fresh) == "b");
  hosts.start({"b"});
  CHECK(hosts.reaches("b"));
}

}  // namespace
}  // namespace flowcon::cluster
