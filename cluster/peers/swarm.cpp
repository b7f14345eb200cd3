// SPDX-License-Identifier: Apache-2.0
#include "cluster/peers/swarm.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <optional>
#include <set>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"

namespace flowcon::cluster::peers {
namespace {

constexpr std::size_t kMostMembers = 1000;

// "10.0.0.2", or "10.0.0.2:2377" of a manager; ssh's port is another one.
std::optional<SshAddress> address_of(std::string said) {
  const std::size_t colons = static_cast<std::size_t>(std::count(said.begin(), said.end(), ':'));
  if (colons > 1 && said.front() != '[') said = "[" + said + "]";
  Result<SshAddress> address = parse_ssh_address(said);
  if (!address || !address->user.empty() || address->host == "0.0.0.0" || address->host == "::") {
    return std::nullopt;
  }
  address->port = 22;
  return *address;
}

// Who left and joined again is listed twice, as long as nobody runs docker node rm.
void leave_out_former(std::vector<SwarmMember>& members) {
  std::set<std::string> up;
  for (const SwarmMember& one : members) {
    if (one.is_up && !one.name.empty()) up.insert(one.name);
  }
  std::erase_if(members,
                [&up](const SwarmMember& one) { return one.is_down && up.contains(one.name); });
}

}  // namespace

Result<SwarmPart> parse_swarm_part(std::string_view info) {
  const Result<json::value> read = parse_json(info);
  if (!read) return read.error();
  const json::value& swarm = member(*read, "Swarm");
  if (!swarm.is_object()) return bad_input("the engine says nothing of a swarm");
  SwarmPart part;
  const std::string state = text_of(swarm, "LocalNodeState");
  part.is_in_none = state == "inactive";
  if (state != "active") return part;
  part.node = text_of(swarm, "NodeID");
  part.is_manager = is_true(swarm, "ControlAvailable");
  const json::array* managers = member(swarm, "RemoteManagers").if_array();
  if (managers == nullptr) return part;
  for (const json::value& manager : *managers) {
    if (text_of(manager, "NodeID") == part.node) continue;
    const auto address = address_of(text_of(manager, "Addr"));
    if (address && part.managers.size() < kMostMembers) part.managers.push_back(*address);
  }
  return part;
}

Result<std::vector<SwarmMember>> parse_swarm_nodes(std::string_view nodes, std::string_view node) {
  const Result<json::value> read = parse_json(nodes);
  if (!read) return read.error();
  const json::array* list = read->if_array();
  if (list == nullptr) return bad_input("the engine's list of nodes is none");
  std::vector<SwarmMember> members;
  for (const json::value& one : *list) {
    SwarmMember found;
    found.is_here = !node.empty() && text_of(one, "ID") == node;
    const json::value& status = member(one, "Status");
    const json::value& manager = member(one, "ManagerStatus");
    found.is_leader = is_true(manager, "Leader");
    found.name = printable(text_of(member(member(one, "Description"), "Hostname")), 253);
    // A manager may not know its own address as others see it.
    auto address = address_of(text_of(status, "Addr"));
    if (!address) address = address_of(text_of(manager, "Addr"));
    // With a new leader all are "unknown" for a while.
    found.is_up = found.is_here || text_of(status, "State") == "ready";
    found.is_down = !found.is_here && text_of(status, "State") == "down";
    if (!found.is_here && !address) continue;
    if (address) found.address = *address;
    if (members.size() < kMostMembers) members.push_back(std::move(found));
  }
  leave_out_former(members);
  return members;
}

}  // namespace flowcon::cluster::peers
