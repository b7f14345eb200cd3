// SPDX-License-Identifier: Apache-2.0
#include "cluster/peers/link.h"

#include "tests/support/catch.h"

namespace flowcon::cluster::peers {
namespace {

constexpr double kPatience = 15;

struct Peer {
  boost::asio::io_context io;
  Link link{io, SshAddress{.user = "", .host = "far", .port = 22}, false};

  Peer() {
    link.heard = Instant{100, 1000};
    link.look({100, 1000}, kPatience);
  }
  [[nodiscard]] std::string state(double steady) const {
    return std::string(link.describe({steady, 900 + steady}, kPatience).at("state").as_string());
  }
};

TEST_CASE("a peer that answered within the patience is reachable") {
  const Peer peer;
  CHECK(peer.state(115) == "reachable");
  CHECK(peer.state(115.1) == "unknown");
}

TEST_CASE("a peer whose connection has ended is unknown at once") {
  Peer peer;
  peer.link.error = "the connection to far ended without a word";
  peer.link.look({101, 1001}, kPatience);
  CHECK(peer.state(101) == "unknown");
  CHECK(peer.link.since == 1001);
}

TEST_CASE(
    "a peer that fell silent is unknown since its patience ended, not since somebody looked") {
  Peer peer;
  peer.link.look({200, 1100}, kPatience);
  CHECK(peer.link.since == 1015);
}

}  // namespace
}  // namespace flowcon::cluster::peers
