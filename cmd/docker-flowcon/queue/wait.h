// SPDX-License-Identifier: Apache-2.0
// `docker flowcon wait`: blocks until jobs of the queue have ended.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

struct WaitOptions {
  std::vector<std::string> jobs;
  std::chrono::milliseconds look{300};  ///< between two questions
  /// How long to wait for a flowcond that does not answer.
  std::chrono::milliseconds patience = std::chrono::seconds(60);
};

void declare_wait(CLI::App& app, WaitOptions& options);

/// Prints the exit status of each job as it ends, after those that are named before it. Returns the
/// last one's; kFailed with a sentence for a job without one: cancelled, refused, not there, or
/// flowcond was silent for too long.
[[nodiscard]] int run_wait(const Session& session, const WaitOptions& options);

}  // namespace flowcon::plugin
