// SPDX-License-Identifier: Apache-2.0
// The list of commands. Their texts are beside the declarations of their options.
#include <algorithm>
#include <ostream>
#include <utility>

#include "base/text.h"
#include "cmd/docker-flowcon/command.h"
#include "cmd/docker-flowcon/doctor.h"
#include "cmd/docker-flowcon/endpoint.h"
#include "cmd/docker-flowcon/extract/extract.h"
#include "cmd/docker-flowcon/history/explain.h"
#include "cmd/docker-flowcon/history/history.h"
#include "cmd/docker-flowcon/history/logs.h"
#include "cmd/docker-flowcon/history/plot.h"
#include "cmd/docker-flowcon/job/control.h"
#include "cmd/docker-flowcon/job/run.h"
#include "cmd/docker-flowcon/job/steering.h"
#include "cmd/docker-flowcon/metadata.h"
#include "cmd/docker-flowcon/peer/add.h"
#include "cmd/docker-flowcon/peer/cluster.h"
#include "cmd/docker-flowcon/peer/dial_stdio.h"
#include "cmd/docker-flowcon/peer/migrate.h"
#include "cmd/docker-flowcon/peer/peer.h"
#include "cmd/docker-flowcon/queue/estimate.h"
#include "cmd/docker-flowcon/queue/fetch.h"
#include "cmd/docker-flowcon/queue/queue.h"
#include "cmd/docker-flowcon/queue/submit.h"
#include "cmd/docker-flowcon/queue/wait.h"
#include "cmd/docker-flowcon/report/report.h"
#include "cmd/docker-flowcon/status/status.h"
#include "cmd/docker-flowcon/top/top.h"
#include "cmd/docker-flowcon/tune/tune.h"
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

Command bare_command(const std::string& name, const std::string& synopsis,
                     const std::string& description, const std::string& above = "") {
  Command command;
  command.path = std::string(kRoot) + " " + above + name;
  command.synopsis = synopsis;
  command.app = std::make_unique<CLI::App>(description, name);
  command.app->set_help_flag();
  // The last of several wins, as with docker's own options.
  command.app->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  return command;
}

// --socket is said once in the help of `docker flowcon` and understood everywhere.
Command make_command(Session& session, const std::string& name, const std::string& synopsis,
                     const std::string& description, const std::string& above = "") {
  Command command = bare_command(name, synopsis, description, above);
  command.app->option_defaults()->group("");
  declare_socket(*command.app, session);
  command.app->option_defaults()->group("Options");
  return command;
}

// The functions of a command; steering.h has such sets.
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
    if constexpr (requires { options->jobs = rest; }) options->jobs = rest;
    if constexpr (requires { options->words = rest; }) options->words = rest;
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

template <class Options>
void add(std::vector<Command>& to, Session& session, const std::string& name,
         const std::string& synopsis, const std::string& description, const Parts<Options>& parts,
         const std::string& above = "") {
  Command command = make_command(session, name, synopsis, description, above);
  fit_parts<Options>(command, session, parts);
  to.push_back(std::move(command));
}

// One of the commands under `group`.
template <class Options>
void add_below(Command& group, Session& session, const std::string& name,
               const std::string& synopsis, const std::string& description,
               const Parts<Options>& parts) {
  add(group.below, session, name, synopsis, description, parts, group.app->get_name() + " ");
}

// Its socket is another one.
Command make_dial_stdio(Session& session) {
  Command command = bare_command("dial-stdio", "[OPTIONS]",
                                 "Connect stdin and stdout to flowcond's socket for peers");
  command.is_hidden = true;
  fit_parts<DialOptions>(command, session, {declare_dial_stdio, run_dial_stdio, check_dial_stdio});
  return command;
}

Command make_peer(Session& session) {
  Command group = bare_command("peer", "COMMAND", "Manage the other hosts that share the work");
  group.style = WordStyle::until_word;
  add_below<PeerAcceptOptions>(group, session, "accept", "",
                               "Do this host's part of a peer add over ssh",
                               {declare_peer_accept, run_peer_accept});
  group.below.back().is_hidden = true;
  add_below<PeerAddOptions>(
      group, session, "add", "[OPTIONS] [USER@]HOST...",
      "Connect this host and others as peers of each other; USER is an admin there (needs root)",
      {declare_peer_add, run_peer_add, check_peer_add});
  add_below<PeerDrainOptions>(group, session, "drain", "[OPTIONS] HOST",
                              "Drain a host: migrate its containers away, take no new ones",
                              {declare_peer_drain, run_peer_drain, check_host});
  add_below<PeerLsOptions>(group, session, "ls", "[OPTIONS]",
                           "List the peers, their scores and their errors",
                           {declare_peer_ls, run_peer_ls});
  add_below<PeerRmOptions>(group, session, "rm", "[OPTIONS] HOST",
                           "Remove a peer and its key (needs root)",
                           {declare_peer_rm, run_peer_rm, check_host});
  add_below<PeerDrainOptions>(group, session, "undrain", "HOST",
                              "Stop draining a host: it takes containers again",
                              {declare_peer_undrain, run_peer_undrain, check_host});
  return group;
}

Command make_queue(Session& session) {
  Command group = make_command(session, "queue", "[OPTIONS] [COMMAND]",
                               "Show the jobs that wait and run, or change them");
  group.style = WordStyle::until_word;
  auto options = std::make_shared<QueueOptions>();
  declare_queue(*group.app, *options);
  group.check = [options](const std::vector<std::string>& rest) {
    return check_queue(*options, rest);
  };
  group.run = [&session, options](const std::vector<std::string>&) {
    return run_queue(session, *options);
  };
  add_below<QueueJobsOptions>(group, session, "cancel", "NAME [NAME...]",
                              "Cancel jobs: stop those that run; remove those that never ran",
                              {declare_queue_jobs, run_queue_jobs});
  add_below<QueueJobsOptions>(group, session, "hold", "NAME [NAME...]",
                              "Hold jobs: they wait until they are released",
                              {declare_queue_jobs, run_queue_jobs});
  for (const char* name : {"list", "ls"}) {
    add_below<QueueOptions>(group, session, name, "[OPTIONS]", "Show the jobs that wait and run",
                            {declare_queue, run_queue});
    group.below.back().is_hidden = true;
  }
  add_below<QueueJobsOptions>(group, session, "park", "NAME [NAME...]",
                              "Park jobs: they save themselves and wait until they are released",
                              {declare_queue_jobs, run_queue_jobs});
  add_below<QueueJobsOptions>(group, session, "release", "NAME [NAME...]",
                              "Release jobs: they start when there is room",
                              {declare_queue_jobs, run_queue_jobs});
  add_below<QueueRestartOptions>(group, session, "restart", "[OPTIONS] NAME [NAME...]",
                                 "Restart jobs whose host is lost",
                                 {declare_queue_restart, run_queue_restart});
  add_below<QueueScaleOptions>(group, session, "scale", "NAME WORKERS",
                               "Give a job of several containers another number of workers",
                               {declare_queue_scale, run_queue_scale});
  add_below<QueueSetOptions>(group, session, "set", "[OPTIONS] NAME [NAME...]",
                             "Change priority, request and retries of jobs",
                             {declare_queue_set, run_queue_set, check_queue_set});
  add_below<QueueShowOptions>(
      group, session, "show", "[OPTIONS] NAME",
      "Show a job: its estimate, its position, the last decision, its steps",
      {declare_queue_show, run_queue_show});
  return group;
}

Command make_run(Session& session) {
  Command command =
      make_command(session, "run", "[OPTIONS] [DOCKER-RUN-OPTIONS] IMAGE [COMMAND] [ARG...]",
                   "Create and run a container under control");
  command.style = WordStyle::before_image;
  command.docker_command = "run";
  command.app->footer(
      "The options above stand anywhere before the image and become labels flowcon.* of the "
      "container. Everything else goes to docker run unchanged, see 'docker run --help', with "
      "PYTHONUNBUFFERED=1 unless you set it.\n\n"
      "Example:  docker flowcon run --rm -d --metric loss trainings:1 python vae.py");
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

Command make_submit(Session& session) {
  Command command =
      make_command(session, "submit", "[OPTIONS] [DOCKER-CREATE-OPTIONS] IMAGE [COMMAND] [ARG...]",
                   "Create a container as a job that starts when there is room");
  command.style = WordStyle::before_image;
  command.docker_command = "create";
  command.app->footer(
      "The options above stand anywhere before the image and become labels flowcon.* of the "
      "container. Everything else goes to docker create unchanged, see 'docker create --help', "
      "with PYTHONUNBUFFERED=1 unless you set it. submit refuses --rm, -i, -t, -d, fixed ports of "
      "the host, --cpuset-cpus, --cpuset-mems and --restart.\n\n"
      "Example:  docker flowcon submit --name vae trainings:1 python vae.py");
  auto options = std::make_shared<SubmitOptions>();
  declare_submit(*command.app, *options);
  command.check = [options](const std::vector<std::string>& rest) {
    return check_submit(*options, rest);
  };
  command.run = [&session, options](const std::vector<std::string>& rest) {
    return run_submit(session, *options, rest);
  };
  return command;
}

// The containers under control.
void add_control(std::vector<Command>& all, Session& session) {
  add<AdoptOptions>(all, session, "adopt", "[OPTIONS] CONTAINER",
                    "Put a running container under control",
                    {declare_adopt, run_adopt, check_adopt});
  add<PauseOptions>(all, session, "pause", "[OPTIONS] [CONTAINER...]",
                    "Pause control and restore the original limits until resume",
                    {declare_pause, run_pause, check_pause});
  add<PinOptions>(all, session, "pin", "[OPTIONS] CONTAINER [CONTAINER...]",
                  "Give containers a fixed share of the host", {declare_pin, run_pin, check_pin});
  add<ContainersOptions>(all, session, "release", "CONTAINER [CONTAINER...]",
                         "End control of containers, restore their original limits",
                         {declare_containers, run_containers});
  add<PauseOptions>(all, session, "resume", "[OPTIONS] [CONTAINER...]",
                    "Resume control of paused containers", {declare_pause, run_pause, check_pause});
  all.push_back(make_run(session));
  add<SetOptions>(all, session, "set", "[OPTIONS] CONTAINER [CONTAINER...]",
                  "Change weight, floor and ceiling of containers under control",
                  {declare_set, run_set, check_set});
  add<ContainersOptions>(all, session, "unpin", "CONTAINER [CONTAINER...]",
                         "Unpin containers: the policy decides their limits again",
                         {declare_containers, run_containers});
}

// What is known of them, and of this host.
void add_views(std::vector<Command>& all, Session& session) {
  add<DoctorOptions>(all, session, "doctor", "[OPTIONS]",
                     "Show what this host supports, and how to get more",
                     {declare_doctor, run_doctor});
  add<ExplainOptions>(all, session, "explain", "[OPTIONS] CONTAINER",
                      "Show the last decisions about a container, and why",
                      {declare_explain, run_explain, check_explain});
  add<ExtractOptions>(all, session, "extract", "[OPTIONS] FILE|-",
                      "Show the metric that flowcond would find in a log",
                      {declare_extract, [](const Session& s, const ExtractOptions& options) {
                         return run_extract(options, s.terminal.out, s.terminal.err);
                       }});
  add<HistoryOptions>(all, session, "history", "[OPTIONS] [CONTAINER]",
                      "Show the records of a container, even after its end",
                      {declare_history, run_history, check_history});
  add<LogsOptions>(all, session, "logs", "[OPTIONS] CONTAINER",
                   "Show the output of a container on all its hosts",
                   {declare_logs, run_logs, check_logs});
  add<PlotOptions>(all, session, "plot", "[OPTIONS] CONTAINER",
                   "Draw the records of a container as a chart", {declare_plot, run_plot});
  add<ReportOptions>(all, session, "report", "[OPTIONS] [CONTAINER...]",
                     "Write records and decisions as one HTML page", {declare_report, run_report});
  add<StatusOptions>(all, session, "status", "[OPTIONS] [CONTAINER...]",
                     "Show the containers under control, their progress and limits",
                     {declare_status, run_status});
  add<TopOptions>(all, session, "top", "[OPTIONS]",
                  "Show the containers under control live, full screen", {declare_top, run_top});
  add<TuneOptions>(all, session, "tune", "[OPTIONS]",
                   "Replay recorded runs with other settings, suggest the best one",
                   {declare_tune, run_tune, check_tune});
  add<VersionOptions>(all, session, "version", "[OPTIONS]",
                      "Show the versions of docker flowcon and flowcond",
                      {declare_version, run_version});
}

// Several hosts.
void add_hosts(std::vector<Command>& all, Session& session) {
  add<ClusterOptions>(all, session, "cluster", "[OPTIONS]",
                      "Show all hosts, their containers and migrations",
                      {declare_cluster, run_cluster});
  all.push_back(make_dial_stdio(session));
  add<MigrateOptions>(all, session, "migrate", "[OPTIONS] CONTAINER [HOST]",
                      "Migrate a container to another host",
                      {declare_migrate, run_migrate, check_migrate});
  all.push_back(make_peer(session));
  add<RebalanceOptions>(all, session, "rebalance", "[OPTIONS]",
                        "Even out the load of all hosts now: migrate converged containers",
                        {declare_rebalance, run_rebalance});
}

// The queue.
void add_jobs(std::vector<Command>& all, Session& session) {
  add<EstimateOptions>(all, session, "estimate", "[OPTIONS] IMAGE [COMMAND] [ARG...]",
                       "Estimate time and resources of a job from earlier runs",
                       {declare_estimate, run_estimate, check_estimate});
  all.back().style = WordStyle::until_word;
  add<FetchOptions>(all, session, "fetch", "[OPTIONS] NAME", "Copy a job's output into a folder",
                    {declare_fetch, run_fetch});
  all.push_back(make_queue(session));
  all.push_back(make_submit(session));
  add<WaitOptions>(all, session, "wait", "NAME [NAME...]",
                   "Wait until jobs have ended, and print their exit statuses",
                   {declare_wait, run_wait});
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
  std::vector<Command> all;
  add_control(all, session);
  add_views(all, session);
  add_hosts(all, session);
  add_jobs(all, session);
  std::sort(all.begin(), all.end(),
            [](const Command& a, const Command& b) { return a.path < b.path; });
  return all;
}

Result<DaemonClient> find_daemon(const Session& session, const std::string& command) {
  if (!session.chose_socket) {
    const Result<Endpoint> endpoint = find_endpoint(session.invocation, session.environment);
    if (!endpoint) return endpoint.error();
    if (endpoint->is_remote()) return bad_input(remote_hint(*endpoint, command));
  }
  DaemonClient daemon(session.socket);
  daemon.tell_forwarded([&err = session.terminal.err](const std::string& host) {
    err << "it is on " << printable(host, 255) << ", which answers\n";
  });
  return daemon;
}

int report(Terminal& terminal, const Error& error) {
  terminal.err << error.message() << "\n";
  return kFailed;
}

}  // namespace flowcon::plugin
