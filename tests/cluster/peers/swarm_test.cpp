// SPDX-License-Identifier: Apache-2.0
// Answers of engines in a swarm, cut to what counts.
#include "cluster/peers/swarm.h"

#include "tests/support/catch.h"

namespace flowcon::cluster::peers {
namespace {

const std::string kManager =
    R"({"Name":"h1","Swarm":{"NodeID":"n1","NodeAddr":"10.0.0.1","LocalNodeState":"active",)"
    R"("ControlAvailable":true,"Error":"","RemoteManagers":[{"NodeID":"n1","Addr":"10.0.0.1:2377"},)"
    R"({"NodeID":"n2","Addr":"10.0.0.2:2377"},{"NodeID":"n3","Addr":"[fe80::3]:2377"},)"
    R"x({"NodeID":"n4","Addr":"$(id)"},7]}})x";

const std::string kNodes =
    R"([{"ID":"n1","Description":{"Hostname":"h1"},"Status":{"State":"ready","Addr":"0.0.0.0"},)"
    R"("ManagerStatus":{"Leader":true,"Addr":"10.0.0.1:2377"}},)"
    R"({"ID":"n2","Description":{"Hostname":"h2"},"Status":{"State":"ready","Addr":"10.0.0.2"}},)"
    R"({"ID":"n3","Description":{"Hostname":"h3"},"Status":{"State":"down","Addr":"10.0.0.3"}},)"
    R"({"ID":"n4","Description":{"Hostname":"h4"},"Status":{"State":"ready","Addr":"0.0.0.0"},)"
    R"("ManagerStatus":{"Addr":"10.0.0.4:2377"}},)"
    R"({"ID":"n5","Description":{"Hostname":"h5"},"Status":{"State":"ready","Addr":"-oX=y"}},)"
    R"({"ID":"n6","Status":{"State":"ready","Addr":"fe80::6"}},null])";

std::string node(const std::string& number, const std::string& host, const std::string& state) {
  return R"({"ID":"n)" + number + R"(","Description":{"Hostname":")" + host +
         R"("},"Status":{"State":")" + state + R"(","Addr":"10.0.0.)" + number + R"("}})";
}

TEST_CASE("a host's own part of a swarm names the managers, and not itself") {
  const Result<SwarmPart> part = parse_swarm_part(kManager);
  REQUIRE(part.has_value());
  CHECK(part->node == "n1");
  CHECK(part->is_manager);
  REQUIRE(part->managers.size() == 2);
  CHECK(host_and_port(part->managers[0]) == "10.0.0.2");
  CHECK(host_and_port(part->managers[1]) == "fe80::3");
}

TEST_CASE("a host in no swarm is in none") {
  const auto part = parse_swarm_part(R"({"Swarm":{"NodeID":"","LocalNodeState":"inactive"}})");
  REQUIRE(part.has_value());
  CHECK(part->node.empty());
  CHECK(part->is_in_none);
  CHECK(part->managers.empty());
  // An engine that is starting says so, and will be in it again.
  const auto starting = parse_swarm_part(R"({"Swarm":{"NodeID":"n1","LocalNodeState":"pending"}})");
  CHECK(starting->node.empty());
  CHECK_FALSE(starting->is_in_none);
  CHECK_FALSE(parse_swarm_part("{}").has_value());
  CHECK_FALSE(parse_swarm_part("").has_value());
}

TEST_CASE("members are those that have an address; who is up and who leads is known") {
  const auto members = parse_swarm_nodes(kNodes, "n1");
  REQUIRE(members.has_value());
  REQUIRE(members->size() == 5);
  CHECK((*members)[0].is_here);
  CHECK((*members)[0].is_leader);
  CHECK((*members)[1].name == "h2");
  CHECK(host_and_port((*members)[1].address) == "10.0.0.2");
  CHECK_FALSE((*members)[1].is_leader);
  CHECK((*members)[1].is_up);
  CHECK(host_and_port((*members)[2].address) == "10.0.0.3");
  CHECK_FALSE((*members)[2].is_up);
  CHECK(host_and_port((*members)[3].address) == "10.0.0.4");
  CHECK((*members)[4].address.host == "fe80::6");
  CHECK_FALSE(parse_swarm_nodes("{}", "n1").has_value());
  CHECK(parse_swarm_nodes("[]", "n1")->empty());
}

TEST_CASE("who has left a swarm and is in it again by another address is there once") {
  const std::string nodes = "[" + node("1", "h1", "ready") + "," + node("2", "h2", "down") + "," +
                            node("3", "h2", "ready") + "," + node("4", "h1", "down") + "," +
                            node("5", "h5", "unknown") + "," + node("6", "", "ready") + "," +
                            node("7", "", "down") + "," + node("8", "h2", "unknown") + "]";
  const auto members = parse_swarm_nodes(nodes, "n1");
  REQUIRE(members.has_value());
  std::vector<std::string> addresses;
  for (const SwarmMember& one : *members) addresses.push_back(one.address.host);
  CHECK(addresses == std::vector<std::string>{"10.0.0.1", "10.0.0.3", "10.0.0.5", "10.0.0.6",
                                              "10.0.0.7", "10.0.0.8"});
}

}  // namespace
}  // namespace flowcon::cluster::peers
