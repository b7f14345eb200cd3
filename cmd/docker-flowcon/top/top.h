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

/// Draws until a key or a signal ends it; the terminal is as it was then, whatever ended it.
/// Returns kFailed where stdin or stdout is no terminal that can be drawn on, or flowcond does not
/// answer at the first look; 128 + n for a signal n.
[[nodiscard]] int run_top(const Session& session, const TopOptions& options);

}  // namespace flowcon::plugin
