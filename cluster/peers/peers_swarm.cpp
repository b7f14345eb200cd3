// SPDX-License-Identifier: Apache-2.0
// Peers that a Docker Swarm names. It tells who is there and who leads; the keys of ssh are still
// exchanged by `peer add`, and nothing is changed in the swarm.
#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/text.h"
#include "cluster/peers/peers.h"

namespace flowcon::cluster::peers {

namespace asio = boost::asio;
using ctrl::Async;

namespace {

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

constexpr double kEngineTime = 10;  // seconds

}  // namespace

Async<void> Peers::ask_swarm() {
  if (host_.config().peers.from_swarm) {
    const Result<void> read = co_await read_swarm();
    if (read) {
      swarm_failures_.reset();
    } else if (swarm_failures_.count()) {
      // Who was there is taken to be there still: silence takes no peer away.
      ctrl::log::warning("the swarm is not known: " + read.error().message());
    }
  } else {
    follow_swarm({});
  }
  is_asking_swarm_ = false;
}

Async<Result<void>> Peers::read_swarm() {
  std::string method = "GET", target = "/info", body;
  const Result<ctrl::engine::Reply> info =
      co_await engine_.call(std::move(method), std::move(target), std::move(body), kEngineTime);
  if (!info) co_return info.error();
  const Result<SwarmPart> part = parse_swarm_part(info->body);
  if (!part) co_return part.error();
  if (part->is_in_none) follow_swarm({});
  if (part->node.empty()) co_return bad_input("this host is in none (docker swarm join)");
  std::vector<SwarmMember> members;
  if (!part->is_manager) {
    // A worker is told where managers are, and not which of them leads.
    for (const SshAddress& address : part->managers) members.push_back({address, "", true, false});
    members = co_await called_as_here(std::move(members));
    follow_swarm(std::move(members));
    co_return Result<void>();
  }
  method = "GET";
  target = "/nodes";
  body.clear();
  const Result<ctrl::engine::Reply> nodes =
      co_await engine_.call(std::move(method), std::move(target), std::move(body), kEngineTime);
  if (!nodes) co_return nodes.error();
  if (nodes->status != 200) co_return ctrl::engine::engine_error(*nodes, "asking for the nodes");
  Result<std::vector<SwarmMember>> read = parse_swarm_nodes(nodes->body, part->node);
  if (!read) co_return read.error();
  members = co_await called_as_here(std::move(*read));
  follow_swarm(std::move(members));
  co_return Result<void>();
}

// A swarm knows addresses, and people add hosts by name: whose name leads to a member's address is
// that member.
Async<std::vector<SwarmMember>> Peers::called_as_here(std::vector<SwarmMember> members) {
  std::vector<SshAddress> added;
  for (const LinkPtr& link : links_) {
    if (!link->is_from_swarm) added.push_back(link->address);
  }
  asio::ip::tcp::resolver resolver(host_.io());
  for (const SshAddress& peer : added) {
    auto [code, found] = co_await resolver.async_resolve(peer.host, "", kAwait);
    if (code) continue;
    for (const auto& entry : found) {
      const std::string address = entry.endpoint().address().to_string();
      for (SwarmMember& member : members) {
        if (member.address.host == address) member.name = host_and_port(peer);
      }
    }
  }
  co_return members;
}

void Peers::follow_swarm(std::vector<SwarmMember> members) {
  if (is_ended_) return;
  swarm_ = std::move(members);
  const std::vector<LinkPtr> before = links_;
  for (const LinkPtr& link : before) {
    const bool is_member = std::any_of(swarm_.begin(), swarm_.end(), [&](const SwarmMember& m) {
      return !m.is_here && m.address == link->address;
    });
    if (!link->is_from_swarm) continue;
    if (is_member) link->leaving = Link::Leaving::no;
    if (!is_member && may_go(*link, "in the swarm")) drop(link);
  }
  for (const SwarmMember& member : swarm_) {
    // Who was added by name is a peer by that.
    const bool is_known = member.is_here || find(host_and_port(member.address)) ||
                          (!member.name.empty() && find(member.name));
    if (!is_known) add(member.address, false)->is_from_swarm = true;
  }
}

std::optional<std::vector<std::string>> Peers::leaders() const {
  if (!host_.config().peers.from_swarm) return std::nullopt;
  std::vector<std::string> ids;
  for (const SwarmMember& member : swarm_) {
    if (!member.is_leader) continue;
    if (member.is_here) {
      ids.push_back(identity_.id);
      continue;
    }
    LinkPtr link = find(host_and_port(member.address));
    if (!link && !member.name.empty()) link = find(member.name);
    if (link && link->hello && link->unused.empty()) ids.push_back(link->hello->id);
  }
  return ids;
}

}  // namespace flowcon::cluster::peers
