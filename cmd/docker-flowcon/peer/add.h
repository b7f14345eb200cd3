// SPDX-License-Identifier: Apache-2.0
// `docker flowcon peer add` and `peer rm`, which change the keys that ssh accepts, and `peer
// accept`, which `add` runs on the other host. They report each step, and skip steps already done.
#pragma once

#include <string>
#include <vector>

#include "base/ssh_address.h"
#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

struct PeerAddOptions {
  std::vector<std::string> hosts;         ///< [user@]host, the user is an admin there
  std::string port;                       ///< of their sshd, "" = 22
  std::vector<std::string> fingerprints;  ///< SHA256:…; none = ask
  std::string as;                         ///< how the other host reaches this one, "" = by its name
  bool create_user = false;
};

struct PeerRmOptions {
  std::string host;
  bool force = false;
};

struct PeerAcceptOptions {};

void declare_peer_add(CLI::App& app, PeerAddOptions& options);
[[nodiscard]] std::string check_peer_add(const PeerAddOptions& options);
/// Arguments of the ssh that runs `peer accept` on `host` as an admin. It takes no host key that is
/// not in the file `known_hosts`, and ends itself 30 s after the host fell silent. `may_ask`: for a
/// password.
[[nodiscard]] std::vector<std::string> admin_ssh(const SshAddress& host,
                                                 const std::string& known_hosts, bool may_ask);
[[nodiscard]] int run_peer_add(const Session& session, const PeerAddOptions& options);

void declare_peer_rm(CLI::App& app, PeerRmOptions& options);
[[nodiscard]] int run_peer_rm(const Session& session, const PeerRmOptions& options);

void declare_peer_accept(CLI::App& app, PeerAcceptOptions& options);
/// Reads an offer on stdin, does this side's part, prints this side's offer.
[[nodiscard]] int run_peer_accept(const Session& session, const PeerAcceptOptions& options);

}  // namespace flowcon::plugin
