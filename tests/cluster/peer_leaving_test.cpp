// SPDX-License-Identifier: Apache-2.0
// A peer that nothing names any more, while a move from or to it may be open.
#include <utility>

#include "tests/cluster/peer_hosts.h"

namespace flowcon::cluster {
namespace {

using namespace test;

const std::string kB = host_id('b');

using Names = std::vector<std::string>;

// One that is reached, and what moves from or to it.
struct Leaving {
  Leaving() {
    hosts.says("b", kB);
    hosts.moving = [this](const std::string& id) -> Result<Names> {
      if (!is_read) return bad_input("the journal is not read");
      return id == kB ? open : Names{};
    };
    hosts.start({"b"});
    REQUIRE(hosts.reaches("b"));
  }
  // The configuration is read again.
  void read(const Names& peers) {
    hosts.host.config_.peers.hosts = peers;
    look();
  }
  void look() { hosts.here->look(now += 1); }
  [[nodiscard]] const Names& warnings() const { return hosts.host.warnings_; }

  Names open;
  bool is_read = true;
  double now = 1000;
  Hosts hosts;
};

TEST_CASE("a peer that leaves the configuration without a move goes at once") {
  Leaving one;
  one.read({});
  CHECK(one.hosts.source_of("b").empty());
  CHECK(one.warnings().empty());
}

TEST_CASE("a peer that leaves the configuration is kept until its moves are over") {
  Leaving one;
  one.open = {"vae", "gru"};
  one.read({});
  one.look();
  CHECK(one.hosts.source_of("b") == "leaving");
  CHECK(one.hosts.reaches("b"));
  CHECK(one.hosts.here->links().speaker_of("b")->name == "b");
  CHECK(one.hosts.leads_to(kB) == "b");
  CHECK(one.warnings() ==
        Names{"peer b is no longer in the configuration, and a migration of vae, gru "
              "from or to it is not over: it is kept until that ends"});
  // It takes nothing more.
  CHECK(one.hosts.seen("b").state.value_or(peers::State{}).draining);
  one.open = {"gru"};
  one.look();
  CHECK(one.hosts.source_of("b") == "leaving");
  CHECK(one.warnings().size() == 1);
  one.open.clear();
  one.look();
  CHECK(one.hosts.source_of("b").empty());
  CHECK(one.hosts.leads_to(kB).empty());
}

TEST_CASE("a peer that leaves is kept while it is not known what moves") {
  Leaving one;
  one.is_read = false;
  one.read({});
  one.look();
  CHECK(one.hosts.source_of("b") == "leaving");
  CHECK(one.warnings() == Names{"peer b is no longer in the configuration, and is kept until it is "
                                "known that no migration from or to it is open: the journal is not "
                                "read"});
  one.is_read = true;
  one.open = {"vae"};
  one.look();
  CHECK(one.hosts.source_of("b") == "leaving");
  REQUIRE(one.warnings().size() == 2);
  CHECK(one.warnings().back().find("a migration of vae") != std::string::npos);
  one.open.clear();
  one.look();
  CHECK(one.hosts.source_of("b").empty());
}

TEST_CASE("a peer that leaves stays one where it is named again") {
  Leaving one;
  one.open = {"vae"};
  one.read({});
  CHECK(one.hosts.source_of("b") == "leaving");
  SECTION("by the configuration") {
    one.read({"b"});
    CHECK(one.hosts.source_of("b") == "config");
  }
  SECTION("by a person") {
    one.hosts.add_once_more("b");
    CHECK(one.hosts.source_of("b") == "command");
  }
  one.open.clear();
  one.look();
  CHECK_FALSE(one.hosts.source_of("b").empty());
  CHECK_FALSE(one.hosts.seen("b").state.value_or(peers::State{}).draining);
}

TEST_CASE("under another user it is a peer at once, whatever moves") {
  Leaving one;
  one.open = {"vae"};
  one.read({"ada@b"});
  CHECK(one.hosts.source_of("b") == "config");
  CHECK(one.hosts.answered.body.find(R"("user":"ada")") != std::string::npos);
}

TEST_CASE("by another name of the same host it is reached at once, whatever moves") {
  Leaving one;
  one.open = {"vae"};
  one.hosts.says("b2", kB);
  one.read({"b2"});
  CHECK(one.hosts.reaches("b2"));
  CHECK(one.hosts.source_of("b2") == "config");
  CHECK(one.hosts.source_of("b").empty());
}

TEST_CASE("a person removes a peer that leaves by force alone") {
  Leaving one;
  CHECK(one.hosts.ask("POST", "/b/remove", R"({"force":true})") == 409);
  one.open = {"vae"};
  one.read({});
  CHECK(one.hosts.ask("POST", "/b/remove", "") == 409);
  CHECK(one.hosts.answered.body.find("are open: vae") != std::string::npos);
  CHECK(one.hosts.ask("POST", "/b/remove", R"({"force":true})") == 200);
  CHECK(one.hosts.source_of("b").empty());
}

// GET /info of a worker, whose managers are at these addresses.
std::string swarm_of(const Names& managers) {
  std::string all;
  for (const std::string& address : managers) {
    all += (all.empty() ? "" : ",") + (R"({"NodeID":"n)" + address + R"(","Addr":")") + address +
           R"(:2377"})";
  }
  return R"({"Swarm":{"NodeID":"n0","LocalNodeState":"active","ControlAvailable":false,)"
         R"("RemoteManagers":[)" +
         all + "]}}";
}

TEST_CASE("a member that leaves a swarm is kept until its moves are over") {
  const std::string address = "10.0.0.2";
  Leaving one;
  flowcon::test::FakeDaemon engine(one.hosts.host.folder_.path() + "/engine");
  one.hosts.host.config_.engine = one.hosts.host.folder_.path() + "/engine";
  one.hosts.host.config_.peers.from_swarm = true;
  one.hosts.says(address, kB);
  one.hosts.start({});
  const auto swarm_is = [&](const Names& managers) {
    engine.answer("GET /info", 200, swarm_of(managers));
    const std::size_t asked = engine.requests().size();
    one.now += 60;
    one.look();
    return one.hosts.waits_for([&] { return engine.requests().size() > asked; });
  };
  REQUIRE(one.hosts.waits_for([&] { return one.hosts.here->has_identity(); }));
  REQUIRE(swarm_is({address}));
  REQUIRE(one.hosts.reaches(address));
  CHECK(one.hosts.source_of(address) == "swarm");
  one.open = {"vae"};
  REQUIRE(swarm_is({}));
  CHECK(one.hosts.waits_for([&] { return one.hosts.source_of(address) == "leaving"; }));
  CHECK(one.warnings() ==
        Names{"peer 10.0.0.2 is no longer in the swarm, and a migration of vae from "
              "or to it is not over: it is kept until that ends"});
  REQUIRE(swarm_is({address}));
  CHECK(one.hosts.waits_for([&] { return one.hosts.source_of(address) == "swarm"; }));
  REQUIRE(swarm_is({}));
  CHECK(one.hosts.waits_for([&] { return one.hosts.source_of(address) == "leaving"; }));
  one.open.clear();
  REQUIRE(swarm_is({}));
  CHECK(one.hosts.waits_for([&] { return one.hosts.source_of(address).empty(); }));
}

// GET /nodes: each is an address and whether it is up.
std::string nodes_of(const std::vector<std::pair<std::string, bool>>& nodes) {
  std::string all = R"({"ID":"n0","Status":{"State":"ready","Addr":"10.0.0.1"}})";
  for (const auto& [address, is_up] : nodes) {
    all += R"(,{"ID":"n)" + address + R"(","Status":{"State":")" + (is_up ? "ready" : "unknown") +
           R"(","Addr":")" + address + R"("}})";
  }
  return "[" + all + "]";
}

TEST_CASE("a member of a swarm that is silent stays a peer, and is none before it is up") {
  const std::string second = "10.0.0.2", third = "10.0.0.3", fourth = "10.0.0.4";
  Leaving one;
  const std::string engine_path = one.hosts.host.folder_.path() + "/engine";
  flowcon::test::FakeDaemon engine(engine_path);
  engine.answer("GET /info", 200,
                R"({"Swarm":{"NodeID":"n0","LocalNodeState":"active","ControlAvailable":true}})");
  one.hosts.host.config_.engine = engine_path;
  one.hosts.host.config_.peers.from_swarm = true;
  one.hosts.says(second, kB);
  one.hosts.says(third, host_id('c'));
  one.hosts.start({});
  REQUIRE(one.hosts.waits_for([&] { return one.hosts.here->has_identity(); }));
  engine.answer("GET /nodes", 200, nodes_of({{second, true}}));
  one.now += 60;
  one.look();
  REQUIRE(one.hosts.reaches(second));
  engine.answer("GET /nodes", 200, nodes_of({{second, false}, {third, true}, {fourth, false}}));
  one.now += 60;
  one.look();
  REQUIRE(one.hosts.reaches(third));
  CHECK(one.hosts.source_of(second) == "swarm");
  CHECK(one.hosts.source_of(fourth).empty());
  engine.answer("GET /nodes", 200, nodes_of({{third, true}}));
  one.now += 60;
  one.look();
  CHECK(one.hosts.waits_for([&] { return one.hosts.source_of(second).empty(); }));
}

}  // namespace
}  // namespace flowcon::cluster
