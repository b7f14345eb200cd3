// SPDX-License-Identifier: Apache-2.0
// `docker flowcon peer ls`, `drain`, `undrain`: other hosts as flowcond sees them.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "base/ssh_address.h"
#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

struct PeerLsOptions {
  std::string format;
  bool quiet = false;
};

struct PeerDrainOptions {
  std::string host;
  bool wait = false;
  double look_seconds = 2;      ///< between two looks of --wait
  double silence_seconds = 60;  ///< how long flowcond may not answer, while it is restarted
};

void declare_peer_ls(CLI::App& app, PeerLsOptions& options);
[[nodiscard]] int run_peer_ls(const Session& session, const PeerLsOptions& options);

void declare_peer_drain(CLI::App& app, PeerDrainOptions& options);
void declare_peer_undrain(CLI::App& app, PeerDrainOptions& options);
[[nodiscard]] int run_peer_drain(const Session& session, const PeerDrainOptions& options);
[[nodiscard]] int run_peer_undrain(const Session& session, const PeerDrainOptions& options);

/// Of the options of drain, undrain and rm.
template <class Options>
[[nodiscard]] std::string check_host(const Options& options) {
  const Result<SshAddress> host = parse_ssh_address(options.host);
  return host ? "" : host.error().message();
}

/// "/v1/peers/NAME/ACTION", the name encoded.
[[nodiscard]] std::string peer_target(const std::string& name, const std::string& action);

/// One peer in two forms, as ContainerView has a container: Name, State, Since, Heard, Version, ID,
/// HostName, Scores {PC, WC, CC}, Score, Usage, Cores, Memory, Containers, Draining, Source, Error;
/// in cells also Reachable, SinceText, ScoresText, Load.
struct PeerView {
  boost::json::object exact;
  boost::json::object shown;
};

/// Reads the answer of GET /v1/peers. Missing or ill-typed members count as unknown. Errors:
/// the answer has no list of peers.
[[nodiscard]] Result<std::vector<PeerView>> read_peers(const boost::json::value& answer);

}  // namespace flowcon::plugin
