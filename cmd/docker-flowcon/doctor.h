// SPDX-License-Identifier: Apache-2.0
// `docker flowcon doctor`: the abilities of this host, as flowcond and the plugin find them, with
// reason and advice.
#pragma once

#include <string>

#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

struct DoctorOptions {
  std::string format = "table";  ///< table or json
};

void declare_doctor(CLI::App& app, DoctorOptions& options);

/// Prints the abilities. kDone if CPU limits (by weight or quota) and the engine are available;
/// kFailed if not, or if that is unknown.
[[nodiscard]] int run_doctor(const Session& session, const DoctorOptions& options);

}  // namespace flowcon::plugin
