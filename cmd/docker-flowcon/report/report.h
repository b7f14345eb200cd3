// SPDX-License-Identifier: Apache-2.0
// `docker flowcon report`: the records as one HTML page.
#pragma once

#include <string>
#include <vector>

#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

struct ReportOptions {
  std::vector<std::string> containers;  ///< none = all
  std::string since = "24h";
  std::string output = "flowcon-report.html";  ///< "-" = stdout
};

void declare_report(CLI::App& app, ReportOptions& options);

/// Writes the page and prints the file's name. Returns kFailed if flowcond does not answer, a
/// container has no records, or the file cannot be written; an older file stays then.
[[nodiscard]] int run_report(const Session& session, const ReportOptions& options);

}  // namespace flowcon::plugin
