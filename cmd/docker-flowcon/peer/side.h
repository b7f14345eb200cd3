// SPDX-License-Identifier: Apache-2.0
// One side of a pair of peers: its key, its user, the keys it accepts and the host keys it trusts.
// `peer add` does the same on both hosts with the other one's offer. Needs root.
#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/ssh_address.h"
#include "cmd/docker-flowcon/daemon_client.h"

namespace flowcon::plugin {

/// One host's offer to the other: its address, its public key, the host keys of its sshd.
struct Offer {
  SshAddress address;
  std::string key;
  std::vector<std::string> host_keys;
};

/// Reads {"host","port","key","host_keys":[…]}. Errors: a wrong member.
[[nodiscard]] Result<Offer> parse_offer(const boost::json::value& json);
[[nodiscard]] std::string render_offer(const Offer& offer);

class Side {
 public:
  using Say = std::function<void(const std::string& step)>;

  /// Asks flowcond for the paths of its files. `say` gets each step that changed something, with
  /// this host's name before it. Errors: not root; no flowcond.
  [[nodiscard]] static Result<Side> open(const DaemonClient& daemon, Say say);

  /// This host's own name.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string known_hosts() const;

  /// This host's public key; created if missing.
  [[nodiscard]] Result<std::string> own_key() const;
  /// Errors: there is no such user, or it has no shell, and `create` is false; says what to do.
  [[nodiscard]] Result<void> ensure_user(bool create) const;
  /// Accepts the peer's key, for the peer verbs only.
  [[nodiscard]] Result<void> authorize(const SshAddress& peer, const std::string& key) const;
  [[nodiscard]] Result<void> revoke(const SshAddress& peer) const;
  /// Trusts these host keys of the peer, and no others; none = forgets the peer.
  [[nodiscard]] Result<void> trust(const SshAddress& peer,
                                   const std::vector<std::string>& keys) const;
  [[nodiscard]] std::vector<std::string> trusted(const SshAddress& peer) const;
  /// Gives the service the permissions for peers (service.h).
  [[nodiscard]] Result<void> open_service() const;
  /// Adds it to flowcond's peers.
  [[nodiscard]] Result<void> join(const SshAddress& peer) const;

 private:
  Side(DaemonClient daemon, Say say) : daemon_(std::move(daemon)), say_(std::move(say)) {}

  DaemonClient daemon_;
  Say say_;
  std::string name_;
  std::string folder_;  ///< of this host's key and known_hosts
  std::string socket_;
};

/// The host keys of this host's sshd, as its files have them.
[[nodiscard]] std::vector<std::string> own_host_keys();

/// "SHA256:…" of a public key. Errors: ssh-keygen's.
[[nodiscard]] Result<std::string> fingerprint_of(const std::string& key);

}  // namespace flowcon::plugin
