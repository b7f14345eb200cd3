// SPDX-License-Identifier: Apache-2.0
// `docker flowcon status`, once or repeatedly.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

struct StatusOptions {
  std::vector<std::string> containers;
  std::string format;
  std::vector<std::string> filters;  ///< KEY=VALUE
  bool no_trunc = false;
  bool all = false;  ///< of all hosts
  bool quiet = false;
  bool watch = false;
  double interval_seconds = 2;
};

void declare_status(CLI::App& app, StatusOptions& options);

/// Prints the status. `wait` is called between two updates of --watch and returns whether to go on.
/// Returns kFailed if the daemon does not answer (at the first update) or a container is missing.
[[nodiscard]] int run_status(const Session& session, const StatusOptions& options,
                             const std::function<bool()>& wait);

/// The same with a wait of options.interval_seconds.
[[nodiscard]] int run_status(const Session& session, const StatusOptions& options);

}  // namespace flowcon::plugin
