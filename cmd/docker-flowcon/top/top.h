// SPDX-License-Identifier: Apache-2.0
// `docker flowcon top`: the containers under control, live, on the whole terminal.
#pragma once

#include <string>

#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

struct TopOptions {
  double interval_seconds = 2;
  std::string sort = "arrival";
  std::string filter;
};

void declare_top(CLI::App& app, TopOptions& options);

/// Draws until a key or a signal ends it, then restores the terminal. Returns kFailed if stdin or
/// stdout is no suitable terminal, or if flowcond does not answer at the first update; 128 + n for
/// a signal n.
[[nodiscard]] int run_top(const Session& session, const TopOptions& options);

}  // namespace flowcon::plugin
