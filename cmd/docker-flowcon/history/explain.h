// SPDX-License-Identifier: Apache-2.0
// `docker flowcon explain`: the decisions about a container, their reasons, and the command that
// repeats the last one.
#pragma once

#include <string>

#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

struct ExplainOptions {
  std::string container;
  unsigned last = 0;            ///< decisions, 1 to 1000; 0 = the latest of each resource
  std::string format = "text";  ///< text or json
  bool state = false;           ///< only the last recorded state
};

void declare_explain(CLI::App& app, ExplainOptions& options);
[[nodiscard]] std::string check_explain(const ExplainOptions& options);

/// Prints the decisions, flowcond's own answer byte for byte, or the last recorded state byte for
/// byte with a line end. On a terminal characters that it may obey are JSON escapes instead.
/// Returns kFailed if flowcond does not answer or has no records.
[[nodiscard]] int run_explain(const Session& session, const ExplainOptions& options);

}  // namespace flowcon::plugin
