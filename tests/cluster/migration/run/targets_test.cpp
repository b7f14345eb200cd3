// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/targets.h"

#include "tests/cluster/cluster_fakes.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::migration {

TEST_CASE("a move without a host goes to the reachable peer with the least score, then use") {
  const std::string own(32, '1');
  const auto peer = [](char digit, policy::Counts counts, double usage) {
    Neighbour one;
    one.id = std::string(32, digit);
    one.name = std::string("h") + digit;
    one.is_reachable = true;
    one.state = peers::State{};
    one.state->counts = counts;
    one.state->usage = usage;
    return one;
  };
  const auto chosen = [&](const std::vector<Neighbour>& all) {
    const Result<Neighbour> found = least_loaded(own, all);
    return found ? found->name : found.error().what;
  };
  const std::string none = "no peer is reachable that takes containers";
  const Neighbour busy = peer('2', {2, 0, 0}, 0.1), idle = peer('3', {0, 0, 1}, 0.9);
  CHECK(chosen({busy}) == "h2");
  CHECK(chosen({busy, idle}) == "h3");
  CHECK(chosen({busy, peer('4', {0, 0, 1}, 0.2), idle}) == "h4");
  Neighbour silent = idle, draining = idle, unheard = idle, nameless = idle;
  silent.is_reachable = false;
  draining.state->draining = true;
  unheard.state.reset();
  nameless.id.clear();
  CHECK(chosen({silent, draining, unheard, nameless, busy}) == "h2");
  CHECK(chosen({silent, draining, unheard, nameless}) == none);
  CHECK(chosen({}) == none);
}

TEST_CASE("a host is meant by its id, by the name of its link or by its own") {
  test::FakeNetwork network;
  network.add("h2", '2', {});
  network.neighbours_.back().state->name = "two";
  network.add("h3", '3', {});
  network.neighbours_.back().is_reachable = false;
  network.neighbours_.back().error = "no route";
  for (const std::string& name : {std::string("h2"), std::string("two"), std::string(32, '2')}) {
    const Result<Neighbour> found = find_neighbour(network, name);
    REQUIRE(found.has_value());
    CHECK(found->name == "h2");
  }
  CHECK(find_neighbour(network, "h3").error().what == "h3 is not reachable: no route");
  CHECK(find_neighbour(network, "h4").error().what.starts_with("there is no peer h4"));
  CHECK(name_of_peer(network, std::string(32, '3')) == "h3");
  CHECK(name_of_peer(network, std::string(32, '4')) == std::string(12, '4'));
  CHECK(why_unreachable(std::string(32, '2'), network.neighbours_).empty());
  CHECK(why_unreachable(std::string(32, '3'), network.neighbours_).ends_with(": no route"));
  CHECK_FALSE(why_unreachable("", network.neighbours_).empty());
}

}  // namespace flowcon::cluster::migration
