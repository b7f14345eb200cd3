// SPDX-License-Identifier: Apache-2.0
// flowcond's configuration from its four places: command line, environment, files, defaults, in
// this order of precedence.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "ctrl/config.h"

namespace flowcon::cmd {

struct Invocation {
  enum class Action { run, check_config, print_config, show_and_exit };
  Action action = Action::run;
  ctrl::Config config;
  std::map<std::string, std::string> said_at;  ///< option -> where it was set; absent = default
  std::string output;                          ///< show_and_exit: what to print
};

inline constexpr const char* kDefaultConfig = "/etc/flowcon/flowcon.conf";

/// Errors: a bad flag, file, line or value; the message names the place and what to do. Where it
/// was to run and a file, a variable, a flag or a value has a mistake, `readable` gets the rest of
/// them; not where a flag lacks its value, since what belongs to which is not known then.
[[nodiscard]] Result<Invocation> parse_command_line(
    int argc, const char* const* argv, std::optional<ctrl::Config>* readable = nullptr);

enum class Mistakes { end, skip };

/// Reads "key = value" lines of a file that may be missing into `config`. A folder FILE.d beside it
/// is read after it, its *.conf in order of name. Errors: unreadable; "FILE:LINE: what is wrong";
/// none where mistakes are skipped.
[[nodiscard]] Result<void> read_config_file(const std::string& path, ctrl::Config& config,
                                            std::map<std::string, std::string>& said_at,
                                            Mistakes mistakes = Mistakes::end);

/// Every option as a line of a configuration file, with where its value comes from.
[[nodiscard]] std::string render_config(const Invocation& invocation);

}  // namespace flowcon::cmd
