// SPDX-License-Identifier: Apache-2.0
// `docker flowcon tune`: the best setting of flowcond for the recorded runs.
#pragma once

#include <string>

#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

struct TuneOptions {
  bool apply = false;
  std::string config_dir = "/etc/flowcon/flowcon.conf.d";
  std::string format;
  std::string from;  ///< a file that `save` wrote; "" = ask flowcond
  std::string objective = "mean";
  std::string save;  ///< file to write the history to, and nothing else; "" = none
  std::string since = "720h";
};

void declare_tune(CLI::App& app, TuneOptions& options);
[[nodiscard]] std::string check_tune(const TuneOptions& options);

/// Prints the current setting and the best others. Returns kFailed if there is no history, if fewer
/// than sim::kLeastRuns of its runs can be replayed, or if a file cannot be read or written. It is
/// no failure if no setting is better.
[[nodiscard]] int run_tune(const Session& session, const TuneOptions& options);

}  // namespace flowcon::plugin
