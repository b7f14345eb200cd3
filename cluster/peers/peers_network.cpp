// SPDX-License-Identifier: Apache-2.0
// The peers as the rest of the cluster sees them (cluster/network.h).
#include <algorithm>

#include "base/text.h"
#include "cluster/peers/channel.h"
#include "cluster/peers/peers.h"
#include "cluster/peers/ssh.h"
#include "ctrl/wire/stream.h"

namespace flowcon::cluster::peers {

std::vector<Neighbour> Peers::neighbours() const {
  const Instant now = present();
  std::vector<Neighbour> all;
  for (const LinkPtr& link : links_.all()) {
    if (!link->unused.empty()) continue;
    Neighbour one;
    if (link->hello) one.id = link->hello->id;
    one.name = link->name;
    one.is_reachable = link->is_reachable(now, patience());
    one.state = link->state;
    if (one.state && link->is_leaving()) one.state->draining = true;  // it is given nothing more
    one.error = link->error;
    if (one.error.empty() && !one.is_reachable) {
      one.error = link->name + (link->heard ? " fell silent" : " has not been reached yet");
    }
    all.push_back(std::move(one));
  }
  return all;
}

Async<Result<Answer>> Peers::ask(std::string id, std::string method, std::string target,
                                 std::string body, double seconds) {
  const LinkPtr link = links_.find_id(id);
  if (!link) co_return bad_input("no peer has the id " + printable(id, 40));
  const std::string name = link->name;
  if (seconds > kMostOnConnection) {
    const Result<std::vector<std::string>> words = dial(id);
    if (!words) co_return words.error();
    const Result<std::shared_ptr<Channel>> own = Channel::open(host_.io(), *words);
    if (!own) co_return own.error();
    Result<Reply> reply =
        co_await (*own)->ask(std::move(method), std::move(target), std::move(body), seconds);
    if (reply) co_return reply;
    // Why it ended ssh has said.
    const std::string said = co_await (*own)->close();
    const Error why = reply.error();
    if (said.empty() || !ctrl::is_end(why.code)) co_return wrap(why, "asking " + name);
    co_return Error{why.code, explain_ssh(said, name)};
  }
  Result<Reply> reply =
      co_await link->ask(std::move(method), std::move(target), std::move(body), seconds);
  if (!reply) co_return wrap(reply.error(), "asking " + name);
  co_return reply;
}

Result<std::vector<std::string>> Peers::dial(const std::string& id) const {
  const LinkPtr link = links_.find_id(id);
  if (!link) return bad_input("no peer has the id " + printable(id, 40));
  // A host that sends or takes much may be slow to answer.
  constexpr double kPatience = 15;
  return ssh_command(link->address, ssh_folder_, std::max(patience(), kPatience));
}

std::optional<std::vector<std::string>> Peers::leaders() const {
  if (!host_.config().peers.from_swarm) return std::nullopt;
  std::vector<std::string> ids;
  for (const SwarmMember& member : swarm_.members()) {
    if (!member.is_leader || !member.is_up) continue;
    if (member.is_here) {
      ids.push_back(identity_.id);
      continue;
    }
    LinkPtr link = links_.find(host_and_port(member.address));
    if (!link && !member.name.empty()) link = links_.find(member.name);
    if (link && link->hello && link->unused.empty()) ids.push_back(link->hello->id);
  }
  return ids;
}

}  // namespace flowcon::cluster::peers
