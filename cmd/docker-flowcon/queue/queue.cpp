// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/queue/queue.h"

#include <algorithm>
#include <optional>
#include <ostream>
#include <utility>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/seconds.h"
#include "base/text.h"
#include "cmd/docker-flowcon/job/control.h"
#include "cmd/docker-flowcon/peer/peer.h"
#include "cmd/docker-flowcon/queue/queue_view.h"
#include "cmd/docker-flowcon/queue/values.h"
#include "cmd/docker-flowcon/text/format.h"
#include "cmd/docker-flowcon/text/raw_json.h"

namespace flowcon::plugin {
namespace {

constexpr std::size_t kNoteBytes = 1000;
constexpr double kLately = 3600;  // seconds

// The columns that have something to say.
std::string table_of(const QueueOptions& options, const std::vector<JobView>& jobs) {
  const bool has_hosts = std::any_of(jobs.begin(), jobs.end(), [](const JobView& job) {
    return !text_of(job.exact, "Host").empty();
  });
  const bool has_groups = std::any_of(jobs.begin(), jobs.end(), [](const JobView& job) {
    return real_of(member(job.exact, "MostWorkers")).value_or(1) > 1 ||
           real_of(member(job.exact, "PS")).value_or(0) > 0;
  });
  const bool has_gpus = std::any_of(jobs.begin(), jobs.end(), [](const JobView& job) {
    return real_of(member(member(job.exact, "Request"), "GPU")).value_or(0) > 0;
  });
  return std::string("{{.Name}}\t{{.StateText}}\t") + (options.hosts ? "{{.HomeText}}\t" : "") +
         (has_groups ? "{{.WorkersText}}\t" : "") + (has_hosts ? "{{.HostText}}\t" : "") +
         "{{.OrderText}}\t{{.CPUText}}\t{{.MemoryText}}\t" + (has_gpus ? "{{.GPUText}}\t" : "") +
         "{{.WaitedText}}\t{{.LeftText}}\t" + (options.all ? "{{.ExitText}}\t" : "") + "{{.Note}}";
}

// Those that run, then those that wait in their order, which is one over all hosts, then the ended.
void sort_jobs(std::vector<JobView>& jobs) {
  const auto rank = [](const JobView& job) {
    const std::string state = text_of(job.exact, "State");
    const std::optional<double> order = real_of(member(job.exact, "Order"));
    if (!is_open_state(state)) return std::pair(2, 0.0);
    return state == "waiting" ? std::pair(1, order.value_or(1e9)) : std::pair(0, 0.0);
  };
  std::stable_sort(jobs.begin(), jobs.end(),
                   [&](const JobView& a, const JobView& b) { return rank(a) < rank(b); });
}

// A host that cannot be asked is a warning.
void add_other_hosts(const Session& session, const DaemonClient& daemon,
                     std::vector<JobView>& jobs) {
  const Result<json::value> here = daemon.get("/v1/status");
  for (JobView& job : jobs) name_home(job, here ? text_of(*here, "host") : "");
  const Result<json::value> peers = daemon.get("/v1/peers");
  if (!peers) return;
  for (const json::value& peer : list_of(*peers, "peers")) {
    const std::string name = text_of(peer, "name");
    if (text_of(peer, "state") == "unused") continue;
    const Result<json::value> answer = daemon.get(peer_target(name, "queue"));
    Result<std::vector<JobView>> there =
        answer ? read_queue(*answer) : Result<std::vector<JobView>>(answer.error());
    if (!there) {
      session.terminal.err << "WARNING: " << there.error().message() << "\n";
      continue;
    }
    for (JobView& job : *there) {
      name_home(job, name);
      jobs.push_back(std::move(job));
    }
  }
  sort_jobs(jobs);
}

bool is_table(const std::string& format) { return format.empty() || format.starts_with("table"); }

// By its name: the one that was submitted later has it now.
bool has_successor(const JobView& job, const std::vector<JobView>& jobs) {
  const auto submitted = [](const JobView& one) {
    return real_of(member(one.exact, "Submitted")).value_or(0);
  };
  return std::any_of(jobs.begin(), jobs.end(), [&](const JobView& other) {
    return text_of(other.exact, "Name") == text_of(job.exact, "Name") &&
           text_of(other.exact, "Home") == text_of(job.exact, "Home") &&
           submitted(other) > submitted(job);
  });
}

// Who has just submitted a job looks for it among the open ones.
void tell_refused(const Session& session, const std::vector<JobView>& jobs) {
  const double now = wall_seconds();
  for (const JobView& job : jobs) {
    const std::optional<double> ended = real_of(member(job.exact, "Ended"));
    const std::optional<double> moment = ended ? ended : real_of(member(job.exact, "Submitted"));
    const bool is_late = moment && *moment <= now && now - *moment < kLately;
    const std::string refusal = refusal_text(job);
    if (refusal.empty() || !is_late || has_successor(job, jobs)) continue;
    session.terminal.err << refusal << "\n";
  }
}

int run_on_jobs(const Session& session, const std::vector<std::string>& jobs,
                const std::string& action, const std::string& body) {
  const Result<DaemonClient> daemon = find_daemon(session, "queue " + action);
  if (!daemon) return report(session.terminal, daemon.error());
  const DaemonClient patient = daemon->with_timeout(kControlTimeout);
  int status = kDone;
  for (const std::string& job : jobs) {
    const Result<std::string> target = job_target(job, action);
    const Result<json::value> answer =
        target ? patient.post(*target, body) : Result<json::value>(target.error());
    if (!answer) {
      status = report(session.terminal, answer.error());
      continue;
    }
    session.terminal.out << job << "\n";
    const std::string note = printable(text_of(*answer, "note"), kNoteBytes);
    if (!note.empty()) session.terminal.err << job << ": " << note << "\n";
  }
  return status;
}

}  // namespace

std::string why_no_job(const json::value& answer) {
  const std::string group = printable(text_of(answer, "group"), 80);
  if (group.empty()) return "";
  return printable(text_of(answer, "name"), 80) + " is a task of job " + group + ": name that job";
}

Error or_job(const DaemonClient& daemon, const std::string& container, const Error& error) {
  const Result<std::string> target = job_target(container, "");
  if (error.code || !target) return error;
  const auto job = daemon.find(*target);
  if (!job || !*job) return error;
  const std::string name = printable(text_of(**job, "name"), 255), state = text_of(**job, "state");
  if (state == "waiting" || state == "placing") {
    return bad_input(name + " waits in the queue: docker flowcon queue show " + name);
  }
  std::vector<std::string> tasks;
  for (const json::value& task : list_of(**job, "tasks")) tasks.push_back(text_of(task, "name"));
  if (tasks.empty()) return error;
  return bad_input(name + " is a job of several containers; name one of them: " +
                   printable(joined(tasks, ", "), kNoteBytes));
}

Result<std::string> job_target(const std::string& job, const std::string& action) {
  if (!is_object_name(job))
    return bad_input("No such job: \"" + printable(job) + "\" cannot be a name");
  return "/v1/queue/" + job + (action.empty() ? "" : "/" + action);
}

void declare_queue(CLI::App& app, QueueOptions& options) {
  app.add_flag("-a,--all", options.all, "Also show jobs that ended recently");
  app.add_flag("--hosts", options.hosts, "Show the jobs of all hosts, and where each belongs");
  app.add_option("--format", options.format, format_help())->type_name("string");
}

std::string check_queue(const QueueOptions& options, const std::vector<std::string>& rest) {
  const bool has_options = options.all || options.hosts || !options.format.empty();
  return has_options && !rest.empty()
             ? "--all, --hosts and --format stand alone; options of a command follow it"
             : "";
}

int run_queue(const Session& session, const QueueOptions& options) {
  Result<Format> format = Format::parse(options.format, table_of(options, {}));
  if (!format) return report(session.terminal, format.error());
  const Result<DaemonClient> daemon = find_daemon(session, "queue");
  if (!daemon) return report(session.terminal, daemon.error());
  const Result<json::value> answer = daemon->get("/v1/queue");
  if (!answer) return report(session.terminal, answer.error());
  Result<std::vector<JobView>> jobs = read_queue(*answer);
  if (!jobs) return report(session.terminal, jobs.error());
  if (options.hosts) add_other_hosts(session, *daemon, *jobs);
  format = Format::parse(options.format, table_of(options, *jobs));
  std::vector<json::object> things;
  for (const JobView& job : *jobs) {
    if (!options.all && !is_open_state(text_of(job.exact, "State"))) continue;
    things.push_back(format->is_json() ? job.exact : job.shown);
  }
  const Result<std::string> text = format->render(things, queue_headings());
  if (!text) return report(session.terminal, text.error());
  const bool has_table = is_table(options.format);
  if (!things.empty() || !has_table) session.terminal.out << *text;
  if (has_table && !options.all) tell_refused(session, *jobs);
  if (has_table && things.empty()) {
    session.terminal.err
        << "The queue is empty; submit a job with: docker flowcon submit IMAGE COMMAND\n";
  }
  return kDone;
}

void declare_queue_show(CLI::App& app, QueueShowOptions& options) {
  app.add_option("NAME", options.jobs)->required()->expected(1);
  app.add_option("--format", options.format,
                 "Output as text, or as json with the last decision's state (default: text)")
      ->type_name("string")
      ->check([](const std::string& text) {
        return text == "text" || text == "json" ? std::string() : "has to be text or json";
      });
}

int run_queue_show(const Session& session, const QueueShowOptions& options) {
  const Result<DaemonClient> daemon = find_daemon(session, "queue show");
  if (!daemon) return report(session.terminal, daemon.error());
  const Result<std::string> target = job_target(options.jobs.front(), "");
  if (!target) return report(session.terminal, target.error());
  const Result<std::string> answer = daemon->get_text(*target + "?decisions=1");
  if (!answer) return report(session.terminal, answer.error());
  if (options.format == "json") {
    print_json(session.terminal, *answer);
    return kDone;
  }
  const Result<json::value> job = parse_json(*answer);
  if (!job) return report(session.terminal, job.error());
  session.terminal.out << show_text(*job);
  return kDone;
}

void declare_queue_jobs(CLI::App& app, QueueJobsOptions& options) {
  options.action = app.get_name();
  app.add_option("NAME", options.jobs)->required();
}

int run_queue_jobs(const Session& session, const QueueJobsOptions& options) {
  return run_on_jobs(session, options.jobs, options.action, "{}");
}

void declare_queue_restart(CLI::App& app, QueueRestartOptions& options) {
  app.add_option("NAME", options.jobs)->required();
  app.add_option("--without", options.without,
                 "The lost host that the jobs were on; make sure that nothing of them runs there")
      ->type_name("host")
      ->required();
}

int run_queue_restart(const Session& session, const QueueRestartOptions& options) {
  return run_on_jobs(session, options.jobs, "restart", render_json({{"without", options.without}}));
}

void declare_queue_scale(CLI::App& app, QueueScaleOptions& options) {
  app.add_option("NAME", options.job)->required();
  app.add_option("WORKERS", options.workers)->required()->check(check_scale);
}

int run_queue_scale(const Session& session, const QueueScaleOptions& options) {
  return run_on_jobs(session, {options.job}, "set", render_json({{"workers", options.workers}}));
}

void declare_queue_set(CLI::App& app, QueueSetOptions& options) {
  app.add_option("NAME", options.jobs)->required();
  app.add_option("--priority", options.priority,
                 "Divides the job's remaining time, 0.1 to 10, or none to undo an earlier change")
      ->type_name("number")
      ->check(as_label_or_none("priority"));
  app.add_option("--request", options.request,
                 "Cores, memory and GPUs that it needs, such as cpu=2,mem=3G, or none to undo it")
      ->type_name("request")
      ->check(as_label_or_none("request"));
  app.add_option("--retries", options.retries,
                 "How often it is restarted after a nonzero exit status, 0 to 100, or none for 0")
      ->type_name("number")
      ->check(as_label_or_none("retries"));
}

std::string check_queue_set(const QueueSetOptions& options) {
  return queue_set_body(options).empty()
             ? "you must provide one or more flags when using this command"
             : "";
}

json::object queue_set_body(const QueueSetOptions& options) {
  json::object body;
  for (const auto& [name, value] : {std::pair("priority", options.priority),
                                    {"request", options.request},
                                    {"retries", options.retries}}) {
    if (!value.empty()) body[name] = value;
  }
  return body;
}

int run_queue_set(const Session& session, const QueueSetOptions& options) {
  return run_on_jobs(session, options.jobs, "set", render_json(queue_set_body(options)));
}

}  // namespace flowcon::plugin
