// SPDX-License-Identifier: Apache-2.0
// Takes docker's command line apart: docker's own global options, the word `flowcon`, the rest.
// It leaves the checks of docker to docker.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace flowcon::plugin {

/// docker's command line.
struct Invocation {
  std::vector<std::string> globals;  ///< docker's global options as they were written
  std::vector<std::string> hosts;    ///< values of -H/--host
  std::string context;               ///< value of -c/--context, "" = not given
  std::string config_folder;         ///< value of --config, "" = not given
  bool wants_help = false;           ///< --help, -h or the word `help` before `flowcon`
  bool wants_version = false;        ///< --version or -v before `flowcon`
  std::vector<std::string> words;    ///< after `flowcon`
};

/// Reads `[GLOBAL OPTIONS] [help] flowcon ARGS...`. Where the word `flowcon` is missing (the
/// program was started by hand) the rest counts as if it were there. Errors: an unknown global
/// option or one without its value, worded as docker words it.
[[nodiscard]] Result<Invocation> parse_globals(const std::vector<std::string>& words);

}  // namespace flowcon::plugin
