// SPDX-License-Identifier: Apache-2.0
// `docker flowcon adopt`: a running container comes under control.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "cluster/migration/plan/names.h"
#include "cmd/docker-flowcon/command.h"
#include "cmd/docker-flowcon/job/options.h"

namespace flowcon::plugin {

// Names that can be no container's or job's never reach a request's path or a shell.
using cluster::migration::is_object_name;

/// Timeout of a change: the engine may be slow, and some answers come only when the limits are
/// written.
inline constexpr std::chrono::seconds kControlTimeout{30};

/// "/v1/containers/NAME/ACTION". Errors: `container` cannot be a name.
[[nodiscard]] Result<std::string> container_target(const std::string& container,
                                                   const std::string& action);

/// Says on stderr that flowcond does not look for containers where docker has them, if so: once it
/// has answered. Who chose a socket means its flowcond.
void warn_of_containers_elsewhere(const Session& session, const DaemonClient& daemon);

struct AdoptOptions {
  std::string container;
  JobOptions job;
};

void declare_adopt(CLI::App& app, AdoptOptions& options);
[[nodiscard]] std::string check_adopt(const AdoptOptions& options);
[[nodiscard]] int run_adopt(const Session& session, const AdoptOptions& options);

}  // namespace flowcon::plugin
