// SPDX-License-Identifier: Apache-2.0
// The plugin as a function of its arguments, its environment and its terminal.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace flowcon::plugin {

/// The process environment.
using Environment = std::map<std::string, std::string, std::less<>>;

/// The value of `name`, or "" where it is not set.
[[nodiscard]] std::string lookup(const Environment& environment, std::string_view name);

/// The output streams and their size. `width` and `height` in characters.
struct Terminal {
  std::ostream& out;
  std::ostream& err;
  bool is_interactive = false;      ///< `out` is a terminal
  bool is_err_interactive = false;  ///< `err` is one
  unsigned width = 80;
  unsigned height = 24;
  /// Takes `width` and `height` anew, for what draws again after a resize; empty: they stay.
  std::function<void(Terminal&)> measure = {};
  /// The process is the plugin and nothing else, so signals and the end of docker may end it.
  bool owns_process = false;
};

/// Exit statuses of docker's own commands.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUsage = 125;

/// Runs the plugin. `words` is the command line without the program's name, as docker hands it
/// over: `[GLOBAL OPTIONS] flowcon ARGS...`. Returns the exit status. Does not return where docker
/// completes words of its own: it becomes docker then.
[[nodiscard]] int run_plugin(const std::vector<std::string>& words, const Environment& environment,
                             Terminal& terminal);

}  // namespace flowcon::plugin
