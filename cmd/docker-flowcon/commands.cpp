// SPDX-License-Identifier: Apache-2.0
// Which commands there are. Their texts stand where their options are declared.
#include <ostream>
#include <utility>

#include "cmd/docker-flowcon/command.h"
#include "cmd/docker-flowcon/control.h"
#include "cmd/docker-flowcon/endpoint.h"
#include "cmd/docker-flowcon/extract.h"
#include "cmd/docker-flowcon/metadata.h"
#include "cmd/docker-flowcon/run.h"
#include "cmd/docker-flowcon/status.h"
#include "cmd/docker-flowcon/version.h"

namespace flowcon::plugin {
namespace {

constexpr std::string_view kRoot = "docker flowcon";

void declare_socket(CLI::App& app, Session& session) {
  app.add_option_function<std::string>(
         "--socket",
         [&session](const std::string& path) {
           session.socket = path;
           session.chose_socket = true;
         },
         "Socket of flowcond (environment FLOWCON_SOCKET)")
      ->type_name("path")
      ->default_str(kDefaultSocket);
}

// --socket is said once in the help of `docker flowcon` and understood everywhere.
Command make_command(Session& session, const std::string& name, const std::string& synopsis,
                     const std::string& description) {
  Command command;
  command.path = std::string(kRoot) + " " + name;
  command.synopsis = synopsis;
  command.app = std::make_unique<CLI::App>(description, name);
  command.app->set_help_flag();
  // The last of several wins, as with docker's own options.
  command.app->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  command.app->option_defaults()->group("");
  declare_socket(*command.app, session);
  command.app->option_defaults()->group("Options");
  return command;
}

Command make_adopt(Session& session) {
  Command command = make_command(session, "adopt", "[OPTIONS] CONTAINER",
                                 "Put a running container under control");
  auto options = std::make_shared<AdoptOptions>();
  declare_adopt(*command.app, *options);
  command.check = [options](const auto&) { return check_job_options(options->job); };
  command.run = [&session, options](const auto&) { return run_adopt(session, *options); };
  return command;
}

Command make_extract(Session& session) {
  Command command = make_command(session, "extract", "[OPTIONS] FILE|-",
                                 "Show the metric that would be found in a log");
  auto options = std::make_shared<ExtractOptions>();
  declare_extract(*command.app, *options);
  command.run = [&session, options](const auto&) {
    return run_extract(*options, session.terminal.out, session.terminal.err);
  };
  return command;
}

Command make_release(Session& session) {
  Command command = make_command(session, "release", "CONTAINER [CONTAINER...]",
                                 "Restore the original limits of containers, end control");
  auto options = std::make_shared<ReleaseOptions>();
  declare_release(*command.app, *options);
  command.run = [&session, options](const std::vector<std::string>& containers) {
    options->containers = containers;
    return run_release(session, *options);
  };
  return command;
}

Command make_run(Session& session) {
  Command command = make_command(session, "run", "[FLOWCON-OPTIONS] [DOCKER-RUN-ARGS]",
                                 "Create and run a container under control");
  command.style = WordStyle::until_unknown;
  command.app->footer(
      "The first argument that is not one of the options above begins those of docker run, which "
      "are passed on as they are: see 'docker run --help'. The options become labels flowcon.* of "
      "the container.\n\n"
      "Example:  docker flowcon run --metric loss --rm -d trainings:1 python vae.py");
  auto options = std::make_shared<JobOptions>();
  declare_job_options(*command.app, *options);
  command.check = [options](const std::vector<std::string>& rest) {
    return rest.empty() ? "'docker flowcon run' requires an image" : check_job_options(*options);
  };
  command.run = [&session, options](const std::vector<std::string>& rest) {
    return run_run(session, *options, rest);
  };
  return command;
}

Command make_status(Session& session) {
  Command command = make_command(session, "status", "[OPTIONS] [CONTAINER...]",
                                 "Show the containers under control, their progress and limits");
  auto options = std::make_shared<StatusOptions>();
  declare_status(*command.app, *options);
  command.run = [&session, options](const std::vector<std::string>& containers) {
    options->containers = containers;
    return run_status(session, *options);
  };
  return command;
}

Command make_version(Session& session) {
  Command command = make_command(session, "version", "[OPTIONS]",
                                 "Show the versions of docker flowcon and flowcond");
  auto options = std::make_shared<VersionOptions>();
  declare_version(*command.app, *options);
  command.run = [&session, options](const auto&) { return run_version(session, *options); };
  return command;
}

}  // namespace

Command make_root(Session& session) {
  Command root;
  root.path = kRoot;
  root.synopsis = "[OPTIONS] COMMAND";
  root.style = WordStyle::until_word;
  root.app = std::make_unique<CLI::App>(std::string(short_description()), "flowcon");
  root.app->set_help_flag();
  root.app->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  declare_socket(*root.app, session);
  return root;
}

std::vector<Command> make_commands(Session& session) {
  std::vector<Command> commands;
  commands.push_back(make_adopt(session));
  commands.push_back(make_extract(session));
  commands.push_back(make_release(session));
  commands.push_back(make_run(session));
  commands.push_back(make_status(session));
  commands.push_back(make_version(session));
  return commands;
}

Result<DaemonClient> find_daemon(const Session& session, const std::string& command) {
  if (!session.chose_socket) {
    const Result<Endpoint> endpoint = find_endpoint(session.invocation, session.environment);
    if (!endpoint) return endpoint.error();
    if (endpoint->is_remote()) return bad_input(remote_hint(*endpoint, command));
  }
  return DaemonClient(session.socket);
}

int report(Terminal& terminal, const Error& error) {
  terminal.err << error.message() << "\n";
  return kFailed;
}

}  // namespace flowcon::plugin
