// SPDX-License-Identifier: Apache-2.0
// `docker flowcon version`: this program's version and the daemon's.
#pragma once

#include <string>

#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

struct VersionOptions {
  std::string format;
};

void declare_version(CLI::App& app, VersionOptions& options);

/// Prints both versions. Without a daemon the own one is printed, stderr says how to start it, and
/// the status is kDone all the same.
[[nodiscard]] int run_version(const Session& session, const VersionOptions& options);

}  // namespace flowcon::plugin
