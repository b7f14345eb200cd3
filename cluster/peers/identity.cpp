// SPDX-License-Identifier: Apache-2.0
#include "cluster/peers/identity.h"

#include <algorithm>
#include <set>

#include "cluster/peers/ssh.h"

namespace flowcon::cluster::peers {
namespace {

// What stands before the first of `ends`; both are taken off.
std::string_view take(std::string_view& text, std::string_view ends) {
  const std::size_t end = std::min(text.find_first_of(ends), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return take(line, " \t\r");
}

// "TYPE BASE64" of each line of the host.
std::set<std::string> keys_of(std::string_view known_hosts, const SshAddress& host) {
  const std::string wanted = known_hosts_name(host);
  std::set<std::string> keys;
  while (!known_hosts.empty()) {
    std::string_view line = take(known_hosts, "\n");
    std::string_view names = take_word(line);
    bool is_host = false;
    while (!names.empty()) is_host = take(names, ",") == wanted || is_host;
    if (!is_host) continue;
    const std::string_view type = take_word(line), key = take_word(line);
    if (!key.empty()) keys.insert(std::string(type) + " " + std::string(key));
  }
  return keys;
}

}  // namespace

bool has_same_host_key(std::string_view known_hosts, const SshAddress& one,
                       const SshAddress& other) {
  const std::set<std::string> keys = keys_of(known_hosts, one);
  const std::set<std::string> others = keys_of(known_hosts, other);
  return std::any_of(keys.begin(), keys.end(),
                     [&](const std::string& key) { return others.contains(key); });
}

IdVerdict judge_id(const PeerId& peer, const std::string& id, const std::string& own_id,
                   const std::optional<PeerId>& holder, std::string_view known_hosts) {
  using Kind = IdVerdict::Kind;
  const std::string name = host_and_port(peer.address);
  if (id == own_id) {
    return {Kind::unused,
            "this is the host itself (or /var/lib/flowcon was copied from one to the other)", ""};
  }
  if (!peer.id.empty() && id != peer.id) {
    return {Kind::refused,
            name +
                " has another id than before: its /var/lib/flowcon was made anew, or it speaks " +
                "for another host. If it is meant: docker flowcon peer add " + name + " again",
            ""};
  }
  if (!holder) return {};
  const std::string other = host_and_port(holder->address);
  if (has_same_host_key(known_hosts, peer.address, holder->address)) {
    return {Kind::unused, "this is the same host as " + other, other};
  }
  return {
      Kind::refused,
      name + " says that it is " + other + ", and has another host key: was /var/lib/flowcon " +
          "copied from one to the other? docker flowcon peer rm takes away the one that it is " +
          "not; the other is then checked again",
      ""};
}

}  // namespace flowcon::cluster::peers
