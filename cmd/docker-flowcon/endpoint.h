// SPDX-License-Identifier: Apache-2.0
// Which engine docker's options, environment and contexts point at. Reads docker's configuration,
// writes nothing, and connects to nothing.
#pragma once

#include <string>

#include "base/result.h"
#include "cmd/docker-flowcon/globals.h"
#include "cmd/docker-flowcon/plugin.h"

namespace flowcon::plugin {

/// An engine. `host` is as docker writes it: unix:///var/run/docker.sock, tcp://…, ssh://….
struct Endpoint {
  std::string context = "default";  ///< name of the docker context it came from
  std::string host;                 ///< "" = docker's default, a socket on this host

  /// True where the containers run on another host than this one.
  [[nodiscard]] bool is_remote() const;
  /// The path of its socket on this host; "" = it has none, or it is not known.
  [[nodiscard]] std::string socket() const;
};

/// The engine that docker would talk to: --context, then -H, then DOCKER_HOST, then DOCKER_CONTEXT,
/// then the configuration's current context, then the default.
/// Errors: -H twice, -H beside --context, a context that does not exist.
[[nodiscard]] Result<Endpoint> find_endpoint(const Invocation& invocation,
                                             const Environment& environment);

/// How to reach the flowcond on `endpoint`, in one sentence with the command to type. `command`:
/// the user's command, such as "status".
[[nodiscard]] std::string remote_hint(const Endpoint& endpoint, const std::string& command);

}  // namespace flowcon::plugin
