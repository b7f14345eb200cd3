// SPDX-License-Identifier: Apache-2.0
// A command of `docker flowcon` as data: its declared options, and what it does with them.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cmd/docker-flowcon/arguments.h"
#include "cmd/docker-flowcon/daemon_client.h"
#include "cmd/docker-flowcon/globals.h"
#include "cmd/docker-flowcon/plugin.h"

namespace flowcon::plugin {

/// What every command works with.
struct Session {
  const Invocation& invocation;
  const Environment& environment;
  Terminal& terminal;
  std::string socket = kDefaultSocket;  ///< of flowcond
  bool chose_socket = false;            ///< by --socket or FLOWCON_SOCKET
};

struct Command {
  std::string path;               ///< "docker flowcon status"
  std::string synopsis;           ///< what follows it: "[OPTIONS] [CONTAINER...]"
  std::unique_ptr<CLI::App> app;  ///< name, one-line description, options, further text (footer)
  WordStyle style = WordStyle::mixed;
  bool is_hidden = false;  ///< for programs: it works, and no list shows it
  /// Commands under it, in alphabetical order; one that has any has no work of its own.
  std::vector<Command> below;
  /// Checks what single options cannot show; a sentence, or "" where all is well. May be empty.
  std::function<std::string(const std::vector<std::string>& rest)> check;
  /// Runs with the options that were parsed. `rest` is what followed the command's own words; in
  /// WordStyle::mixed it is the positionals as they were typed (CLI11 takes "[a,b]" for a list).
  std::function<int(const std::vector<std::string>& rest)> run;
};

/// The command `docker flowcon` itself, which has options and no work of its own.
[[nodiscard]] Command make_root(Session& session);
/// Those below it, in alphabetical order. `session` has to outlive them.
[[nodiscard]] std::vector<Command> make_commands(Session& session);

/// A client for the flowcond that answers for the containers docker would show.
/// Errors: they are on another host and no socket was chosen; says how to ask there.
[[nodiscard]] Result<DaemonClient> find_daemon(const Session& session, const std::string& command);

/// Says on stderr what failed; returns kFailed.
int report(Terminal& terminal, const Error& error);

}  // namespace flowcon::plugin
