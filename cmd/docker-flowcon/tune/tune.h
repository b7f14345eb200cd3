// SPDX-License-Identifier: Apache-2.0
// `docker flowcon tune`: which setting of flowcond would have served the recorded runs best.
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

/// Prints the present setting and the best others. Returns kFailed where there is no history, fewer
/// than sim::kLeastRuns of its runs can be replayed, or a file cannot be read or written. That no
/// setting is better is no failure.
[[nodiscard]] int run_tune(const Session& session, const TuneOptions& options);

}  // namespace flowcon::plugin
