// SPDX-License-Identifier: Apache-2.0
#include "cluster/peers/ssh.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"

namespace flowcon::cluster::peers {
namespace {

// What ssh or the other end says, and what a person makes of it; the first that is found counts.
// NAME stands for the peer's.
struct Meaning {
  std::string_view said;
  std::string_view sentence;
};

constexpr std::array<Meaning, 21> kMeanings{{
    {"Cannot connect to flowcond",
     "flowcond does not run on NAME, or has no peer socket: systemctl start flowcond there"},
    {"HOST IDENTIFICATION HAS CHANGED",
     "the host key of NAME has changed: either it was installed anew or somebody stands in "
     "between. If it is meant: docker flowcon peer add NAME again, with --fingerprint"},
    {"host key is known",
     "the host key of NAME is not known: run docker flowcon peer add NAME, which shows it"},
    {"REVOKED", "the host key of NAME is revoked"},
    {"Host key verification failed",
     "the host key of NAME could not be verified: run docker flowcon peer add NAME"},
    {"UNPROTECTED PRIVATE KEY", "the key of this host is readable by others: chmod 600 it"},
    {"not accessible: No such file",
     "this host has no key yet: docker flowcon peer add NAME makes it"},
    {"no such identity", "this host has no key yet: docker flowcon peer add NAME makes it"},
    {"Permission denied",
     "NAME does not accept this host's key: run docker flowcon peer add NAME again, or on NAME: "
     "docker flowcon peer add for this host"},
    {"Too many authentication failures",
     "NAME does not accept this host's key: run docker flowcon peer add NAME again"},
    {"account is currently not available",
     "the user flowcon-peer on NAME has no shell for its forced command: usermod -s /bin/sh "
     "flowcon-peer there"},
    {"Could not resolve hostname",
     "no address is known for NAME: check its name, or write it into /etc/hosts"},
    {"Connection refused", "NAME takes no ssh connections: is sshd running there, on this port?"},
    {"No route to host", "there is no way to NAME: is it switched on and in the network?"},
    {"Network is unreachable", "there is no way to NAME: is this host in the network?"},
    {"timed out", "NAME does not answer: is it switched on and in the network?"},
    {"not responding", "NAME fell silent: is it switched on and in the network?"},
    {"docker-flowcon: not found", "docker-flowcon is not installed on NAME"},
    {"docker-flowcon: No such file", "docker-flowcon is not installed on NAME"},
    {"Connection closed", "NAME closed the connection: see the log of sshd there"},
    {"Connection reset", "NAME closed the connection: see the log of sshd there"},
}};

std::string with_name(std::string_view sentence, const std::string& name) {
  std::string out;
  for (std::size_t at = 0; at < sentence.size();) {
    const std::size_t found = std::min(sentence.find("NAME", at), sentence.size());
    out += sentence.substr(at, found - at);
    if (found < sentence.size()) out += name;
    at = found + 4;
  }
  return out;
}

std::string_view last_line(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \r\n");
  if (end == std::string_view::npos) return {};
  text = text.substr(0, end + 1);
  return text.substr(text.find_last_of('\n') + 1);
}

}  // namespace

std::string key_file(const std::string& folder) { return folder + "/id_ed25519"; }
std::string known_hosts_file(const std::string& folder) { return folder + "/known_hosts"; }

std::string known_hosts_name(const SshAddress& host) {
  return host.port == 22 ? host.host : "[" + host.host + "]:" + std::to_string(host.port);
}

std::vector<std::string> ssh_command(const SshAddress& peer, const std::string& folder,
                                     double patience) {
  const int alive = static_cast<int>(std::max(1.0, std::floor(patience / 3)));
  std::vector<std::string> words{"ssh", "-T", "-a", "-x"};
  for (const std::string& option :
       {std::string("BatchMode=yes"), std::string("StrictHostKeyChecking=yes"),
        "UserKnownHostsFile=" + known_hosts_file(folder),
        std::string("GlobalKnownHostsFile=/dev/null"), std::string("UpdateHostKeys=no"),
        std::string("CheckHostIP=no"), std::string("VerifyHostKeyDNS=no"),
        std::string("IdentitiesOnly=yes"), std::string("PreferredAuthentications=publickey"),
        std::string("ConnectTimeout=10"), "ServerAliveInterval=" + std::to_string(alive),
        std::string("ServerAliveCountMax=3"), std::string("ControlMaster=no"),
        std::string("ControlPath=none"), std::string("ClearAllForwardings=yes"),
        std::string("PermitLocalCommand=no"), std::string("EscapeChar=none"),
        std::string("LogLevel=ERROR")}) {
    words.insert(words.end(), {"-o", option});
  }
  const std::string user = peer.user.empty() ? kPeerUser : peer.user;
  words.insert(words.end(), {"-i", key_file(folder), "-p", std::to_string(peer.port), "-l", user,
                             "--", peer.host, kRemoteCommand});
  return words;
}

std::string explain_ssh(std::string_view said, const std::string& name) {
  for (const Meaning& meaning : kMeanings) {
    if (said.find(meaning.said) != std::string_view::npos) return with_name(meaning.sentence, name);
  }
  const std::string_view last = last_line(said);
  if (last.empty()) {
    // As ssh's own watch over a silent connection does, below the level that it logs at.
    return "the connection to " + name +
           " ended without a word: is it switched on and in the network? If so, see the log of "
           "sshd there";
  }
  return "ssh to " + name + " says: " + printable(last, 200);
}

}  // namespace flowcon::cluster::peers
