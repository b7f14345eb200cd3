// SPDX-License-Identifier: Apache-2.0
// Which host a peer is. Pure. An id is what a host says of itself, and any may say any; a host key
// is what it has. So a name keeps the id that it had first, and one host is another's second name
// only where both have the same host key.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ssh_address.h"

namespace flowcon::cluster::peers {

/// A peer and the id that it has; "" = it was never reached.
struct PeerId {
  SshAddress address;
  std::string id;
};

struct IdVerdict {
  enum class Kind {
    peer,     ///< it is the host that it was, or the first of that name
    unused,   ///< it is this host, or a second name of a peer
    refused,  ///< it is not who it says, or not who it was
  };
  Kind kind = Kind::peer;
  std::string why;      ///< in words for people; "" for a peer
  std::string same_as;  ///< unused: the first name of the same host
};

/// Does known_hosts have one key for both? Lines that hide their host (HashKnownHosts) or begin
/// with a mark (@revoked) are not looked at.
[[nodiscard]] bool has_same_host_key(std::string_view known_hosts, const SshAddress& one,
                                     const SshAddress& other);

/// What to make of `id`, which `peer` says that it has. `holder`: another peer that has it.
[[nodiscard]] IdVerdict judge_id(const PeerId& peer, const std::string& id,
                                 const std::string& own_id, const std::optional<PeerId>& holder,
                                 std::string_view known_hosts);

}  // namespace flowcon::cluster::peers
