// SPDX-License-Identifier: Apache-2.0
// `docker flowcon doctor`: what flowcond can do on this host and what the plugin sees itself, each
// with why and what to do.
#pragma once

#include <string>

#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

struct DoctorOptions {
  std::string format = "table";  ///< table or json
};

void declare_doctor(CLI::App& app, DoctorOptions& options);

/// Prints the abilities. kDone where nothing essential is missing: CPU limits (by weight or quota)
/// and the engine; else, and where that could not be found out, kFailed.
[[nodiscard]] int run_doctor(const Session& session, const DoctorOptions& options);

}  // namespace flowcon::plugin
