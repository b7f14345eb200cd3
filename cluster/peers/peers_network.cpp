// SPDX-License-Identifier: Apache-2.0
// The peers as the rest of the cluster sees them (cluster/network.h).
#include <algorithm>

#include "base/text.h"
#include "cluster/peers/peers.h"
#include "cluster/peers/ssh.h"

namespace flowcon::cluster::peers {

using ctrl::Async;

std::vector<Neighbour> Peers::neighbours() const {
  const Instant now = present();
  std::vector<Neighbour> all;
  for (const LinkPtr& link : links_) {
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
  const LinkPtr link = find_id(id);
  if (!link) co_return bad_input("no peer has the id " + printable(id, 40));
  const std::string name = link->name;
  Result<Reply> reply =
      co_await ask_link(link, std::move(method), std::move(target), std::move(body), seconds);
  if (!reply) co_return wrap(reply.error(), "asking " + name);
  co_return Answer{reply->status, std::move(reply->body)};
}

Result<std::vector<std::string>> Peers::dial(const std::string& id) const {
  const LinkPtr link = find_id(id);
  if (!link) return bad_input("no peer has the id " + printable(id, 40));
  // A host that sends or takes much may be slow to answer.
  constexpr double kPatience = 15;
  return ssh_command(link->address, ssh_folder_, std::max(patience(), kPatience));
}

Peers::LinkPtr Peers::speaker_of(const std::string& from) const {
  LinkPtr link = find(from);
  if (!link || link->same_as.empty()) return link;
  // Its key may have come under the other of two names. That it says so would not be enough.
  const LinkPtr other = find(link->same_as);
  return other ? other : link;
}

std::string Peers::known_name(const std::string& from) const {
  const LinkPtr link = speaker_of(from);
  return link ? link->name : "";
}

}  // namespace flowcon::cluster::peers
