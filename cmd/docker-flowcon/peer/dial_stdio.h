// SPDX-License-Identifier: Apache-2.0
// `docker flowcon dial-stdio`, the forced command of a peer's key: connects stdin and stdout to
// flowcond's peer socket. It reads no variable and interprets no byte. Before the first byte it
// announces the peer (base/caller.h).
#pragma once

#include <string>

#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

/// Default of flowcond's peer socket.
inline constexpr const char* kDefaultPeerSocket = "/run/flowcon/peer.sock";

struct DialOptions {
  std::string socket = kDefaultPeerSocket;
  std::string from;  ///< the peer whose key it is, by its name here; "" = not given
};

void declare_dial_stdio(CLI::App& app, DialOptions& options);
[[nodiscard]] std::string check_dial_stdio(const DialOptions& options);
[[nodiscard]] int run_dial_stdio(const Session& session, const DialOptions& options);

/// Carries bytes from `in` to `socket` and from `socket` to `out`. The end of `in` is handed on and
/// the answer still awaited; it returns at the end of `socket`, or when `out` takes no more.
/// Changes no flag of the files, which may be shared. Errors: a file that fails otherwise.
[[nodiscard]] Result<void> bridge(int in, int out, int socket);

}  // namespace flowcon::plugin
