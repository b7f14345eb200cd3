// SPDX-License-Identifier: Apache-2.0
// A command of `docker flowcon` as data: its declared options and its action.
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

/// The context of every command.
struct Session {
  const Invocation& invocation;
  const Environment& environment;
  Terminal& terminal;
  std::string socket = kDefaultSocket;  ///< of flowcond
  bool chose_socket = false;            ///< by --socket or FLOWCON_SOCKET
};

struct Command {
  std::string path;               ///< "docker flowcon status"
  std::string synopsis;           ///< after it: "[OPTIONS] [CONTAINER...]"
  std::unique_ptr<CLI::App> app;  ///< name, one-line description, options, further text (footer)
  WordStyle style = WordStyle::mixed;
  /// WordStyle::before_image: whose options stand among its own, "run" or "create" of docker.
  std::string docker_command;
  bool is_hidden = false;  ///< for programs: works, but is not listed
  /// Commands under it, in alphabetical order. One that has any does its own work, if it has
  /// `run`, only where none of them is named.
  std::vector<Command> below;
  /// Checks combinations of options; returns a sentence, or "" if all is well. May be empty.
  std::function<std::string(const std::vector<std::string>& rest)> check;
  /// Runs with the parsed options. `rest`: the words after the command's own; in WordStyle::mixed
  /// the positionals as typed (CLI11 takes "[a,b]" for a list).
  std::function<int(const std::vector<std::string>& rest)> run;
};

/// The command `docker flowcon` itself, which has options and no work of its own.
[[nodiscard]] Command make_root(Session& session);
/// Those below it, in alphabetical order. `session` has to outlive them.
[[nodiscard]] std::vector<Command> make_commands(Session& session);

/// A client for the flowcond of the host that docker talks to.
/// Errors: it is another host and no socket was chosen; says how to ask there.
[[nodiscard]] Result<DaemonClient> find_daemon(const Session& session, const std::string& command);

/// Prints the error on stderr; returns kFailed.
int report(Terminal& terminal, const Error& error);

}  // namespace flowcon::plugin
