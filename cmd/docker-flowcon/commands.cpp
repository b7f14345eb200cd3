// SPDX-License-Identifier: Apache-2.0
// Which commands there are. Their texts stand where their options are declared.
#include <ostream>
#include <utility>

#include "cmd/docker-flowcon/command.h"
#include "cmd/docker-flowcon/control.h"
#include "cmd/docker-flowcon/doctor.h"
#include "cmd/docker-flowcon/endpoint.h"
#include "cmd/docker-flowcon/explain.h"
#include "cmd/docker-flowcon/extract.h"
#include "cmd/docker-flowcon/history.h"
#include "cmd/docker-flowcon/metadata.h"
#include "cmd/docker-flowcon/plot.h"
#include "cmd/docker-flowcon/run.h"
#include "cmd/docker-flowcon/status.h"
#include "cmd/docker-flowcon/steering.h"
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

// What a command is made of: see steering.h for such a set of functions.
template <class Options>
struct Parts {
  void (*declare)(CLI::App& app, Options& options);
  int (*run)(const Session& session, const Options& options);
  std::string (*check)(const Options& options) = nullptr;
};

template <class Options>
void fit_parts(Command& command, Session& session, const Parts<Options>& parts) {
  auto options = std::make_shared<Options>();
  parts.declare(*command.app, *options);
  // CLI11 has read the containers already, but takes "[a,b]" for two of them.
  const auto take = [options](const std::vector<std::string>& rest) {
    if constexpr (requires { options->containers = rest; }) options->containers = rest;
  };
  if (parts.check != nullptr) {
    command.check = [options, take, check = parts.check](const std::vector<std::string>& rest) {
      take(rest);
      return check(*options);
    };
  }
  command.run = [&session, options, take, run = parts.run](const std::vector<std::string>& rest) {
    take(rest);
    return run(session, *options);
  };
}

Command make_adopt(Session& session) {
  Command command = make_command(session, "adopt", "[OPTIONS] CONTAINER",
                                 "Put a running container under control");
  fit_parts<AdoptOptions>(command, session, {declare_adopt, run_adopt, check_adopt});
  return command;
}

Command make_doctor(Session& session) {
  Command command = make_command(session, "doctor", "[OPTIONS]",
                                 "Show what FlowCon can do on this host, and what to do for more");
  fit_parts<DoctorOptions>(command, session, {declare_doctor, run_doctor});
  return command;
}

Command make_explain(Session& session) {
  Command command = make_command(session, "explain", "[OPTIONS] CONTAINER",
                                 "Show what was decided about a container, and why");
  fit_parts<ExplainOptions>(command, session, {declare_explain, run_explain, check_explain});
  return command;
}

Command make_extract(Session& session) {
  Command command = make_command(session, "extract", "[OPTIONS] FILE|-",
                                 "Show the metric that would be found in a log");
  fit_parts<ExtractOptions>(command, session,
                            {declare_extract, [](const Session& s, const ExtractOptions& options) {
                               return run_extract(options, s.terminal.out, s.terminal.err);
                             }});
  return command;
}

Command make_history(Session& session) {
  Command command = make_command(session, "history", "[OPTIONS] CONTAINER",
                                 "Show what was recorded of a container, also after its end");
  fit_parts<HistoryOptions>(command, session, {declare_history, run_history, check_history});
  return command;
}

Command make_pause(Session& session) {
  Command command = make_command(session, "pause", "[OPTIONS] [CONTAINER...]",
                                 "Pause control: the original limits are back until resume");
  fit_parts<PauseOptions>(command, session, {declare_pause, run_pause, check_pause});
  return command;
}

Command make_pin(Session& session) {
  Command command = make_command(session, "pin", "[OPTIONS] CONTAINER [CONTAINER...]",
                                 "Give containers a fixed share of the host");
  fit_parts<PinOptions>(command, session, {declare_pin, run_pin, check_pin});
  return command;
}

Command make_plot(Session& session) {
  Command command = make_command(session, "plot", "[OPTIONS] CONTAINER",
                                 "Draw what was recorded of a container as a chart");
  fit_parts<PlotOptions>(command, session, {declare_plot, run_plot});
  return command;
}

Command make_release(Session& session) {
  Command command = make_command(session, "release", "CONTAINER [CONTAINER...]",
                                 "Restore the original limits of containers, end control");
  fit_parts<ReleaseOptions>(command, session, {declare_release, run_release});
  return command;
}

Command make_resume(Session& session) {
  Command command = make_command(session, "resume", "[OPTIONS] [CONTAINER...]",
                                 "Resume control of paused containers");
  fit_parts<PauseOptions>(command, session, {declare_resume, run_resume, check_pause});
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

Command make_set(Session& session) {
  Command command = make_command(session, "set", "[OPTIONS] CONTAINER [CONTAINER...]",
                                 "Change weight, floor and ceiling of containers under control");
  fit_parts<SetOptions>(command, session, {declare_set, run_set, check_set});
  return command;
}

Command make_status(Session& session) {
  Command command = make_command(session, "status", "[OPTIONS] [CONTAINER...]",
                                 "Show the containers under control, their progress and limits");
  fit_parts<StatusOptions>(command, session, {declare_status, run_status});
  return command;
}

Command make_unpin(Session& session) {
  Command command = make_command(session, "unpin", "CONTAINER [CONTAINER...]",
                                 "Let the limits of pinned containers follow their growth again");
  fit_parts<UnpinOptions>(command, session, {declare_unpin, run_unpin});
  return command;
}

Command make_version(Session& session) {
  Command command = make_command(session, "version", "[OPTIONS]",
                                 "Show the versions of docker flowcon and flowcond");
  fit_parts<VersionOptions>(command, session, {declare_version, run_version});
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
  for (Command (*make)(Session&) :
       {make_adopt, make_doctor, make_explain, make_extract, make_history, make_pause, make_pin,
        make_plot, make_release, make_resume, make_run, make_set, make_status, make_unpin,
        make_version}) {
    commands.push_back(make(session));
  }
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
