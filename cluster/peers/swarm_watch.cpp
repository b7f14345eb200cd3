// SPDX-License-Identifier: Apache-2.0
#include "cluster/peers/swarm_watch.h"

#include <boost/asio/ip/tcp.hpp>

#include "ctrl/await.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster::peers {
namespace {

namespace asio = boost::asio;

constexpr double kInterval = 30;    // seconds
constexpr double kEngineTime = 10;  // seconds

// A swarm knows addresses, and people add hosts by name: whose name leads to a member's address is
// that member.
Async<std::vector<SwarmMember>> called_as_here(asio::io_context& io,
                                               std::vector<SwarmMember> members,
                                               std::vector<SshAddress> added) {
  asio::ip::tcp::resolver resolver(io);
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

}  // namespace

SwarmWatch::SwarmWatch(ctrl::LocalHost& host)
    : host_(host), engine_(host.io(), host.config().engine) {}

void SwarmWatch::look(double now, std::function<std::vector<SshAddress>()> added,
                      std::function<void()> follow) {
  if (now < next_ || is_asking_) return;
  next_ = now + kInterval;
  is_asking_ = true;
  ctrl::spawn(host_.io(), "swarm", ask(std::move(added), std::move(follow)));
}

Async<void> SwarmWatch::ask(std::function<std::vector<SshAddress>()> added,
                            std::function<void()> follow) {
  Result<std::vector<SwarmMember>> found;
  if (host_.config().peers.from_swarm) found = co_await read();
  if (found) {
    if (!found->empty()) {
      *found = co_await called_as_here(host_.io(), std::move(*found), added());
    }
    members_ = std::move(*found);
    failures_.reset();
  } else if (failures_.count()) {
    // Who was there is taken to be there still: silence takes no peer away.
    ctrl::log::warning("the swarm is not known: " + found.error().message());
  }
  follow();
  is_asking_ = false;
}

Async<Result<std::string>> SwarmWatch::get(std::string target) {
  std::string doing = "asking for " + target;
  co_return co_await engine_.get(std::move(target), std::move(doing), kEngineTime);
}

Async<Result<std::vector<SwarmMember>>> SwarmWatch::read() {
  const Result<std::string> info = co_await get("/info");
  if (!info) co_return info.error();
  const Result<SwarmPart> part = parse_swarm_part(*info);
  if (!part) co_return part.error();
  if (part->is_in_none) members_.clear();
  if (part->node.empty()) co_return bad_input("this host is in none (docker swarm join)");
  if (!part->is_manager) {
    // A worker is told where managers are, and not which of them leads.
    std::vector<SwarmMember> members;
    for (const SshAddress& address : part->managers) members.push_back({address, "", true, false});
    co_return members;
  }
  const Result<std::string> nodes = co_await get("/nodes");
  if (!nodes) co_return nodes.error();
  co_return parse_swarm_nodes(*nodes, part->node);
}

}  // namespace flowcon::cluster::peers
