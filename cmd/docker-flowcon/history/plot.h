// SPDX-License-Identifier: Apache-2.0
// `docker flowcon plot`: one recorded series of a container as a chart in the terminal.
#pragma once

#include <string>

#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

struct PlotOptions {
  std::string container;
  std::string what = "loss";  ///< loss (the metric, whatever its name), cpu, limit or memory
  unsigned width = 0;         ///< characters; 0 = COLUMNS, else the terminal's, else 80
  unsigned height = 0;        ///< lines; 0 = as many as the terminal has, at most 24
};

void declare_plot(CLI::App& app, PlotOptions& options);

/// Prints the chart: braille dots where the locale is UTF-8, else ASCII. Returns kFailed if
/// flowcond does not answer or there is no finite value.
[[nodiscard]] int run_plot(const Session& session, const PlotOptions& options);

}  // namespace flowcon::plugin
