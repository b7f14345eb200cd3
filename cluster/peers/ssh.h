// SPDX-License-Identifier: Apache-2.0
// The command that connects to a peer, and what its failures mean. Pure: words in, words out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/ssh_address.h"

namespace flowcon::cluster::peers {

/// The user that a peer is reached as unless another is said.
inline constexpr const char* kPeerUser = "flowcon-peer";

/// What ssh runs at the other end where no forced command stands in its place.
inline constexpr const char* kRemoteCommand =
    "/usr/libexec/docker/cli-plugins/docker-flowcon flowcon dial-stdio";

/// The files of ssh in the folder ssh/ of the state folder.
[[nodiscard]] std::string key_file(const std::string& folder);
[[nodiscard]] std::string known_hosts_file(const std::string& folder);

/// As ssh looks a host up in known_hosts: "h2", "[h2]:2222".
[[nodiscard]] std::string known_hosts_name(const SshAddress& host);

/// Arguments of the ssh that bridges to a peer. It asks nothing, takes no host key that is not in
/// our own known_hosts, forwards nothing, and ends itself `patience` seconds after the peer fell
/// silent (from 3 on).
[[nodiscard]] std::vector<std::string> ssh_command(const SshAddress& peer,
                                                   const std::string& folder, double patience);

/// One sentence for a person: what is wrong and what to do, from what ssh wrote to stderr last
/// (hostile). `name` is the peer's name.
[[nodiscard]] std::string explain_ssh(std::string_view said, const std::string& name);

}  // namespace flowcon::cluster::peers
