// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/queue/submit.h"

#include <chrono>
#include <optional>
#include <ostream>
#include <thread>

#include "base/text.h"
#include "cmd/docker-flowcon/daemon_client.h"
#include "cmd/docker-flowcon/endpoint.h"
#include "cmd/docker-flowcon/job/follow.h"
#include "cmd/docker-flowcon/job/run.h"
#include "cmd/docker-flowcon/job/run_words.h"
#include "cmd/docker-flowcon/other_engine.h"
#include "cmd/docker-flowcon/queue/queue_view.h"
#include "cmd/docker-flowcon/queue/refusal.h"
#include "cmd/docker-flowcon/queue/values.h"

namespace flowcon::plugin {
namespace {

constexpr auto kLook = std::chrono::milliseconds(50);

// What --name says; docker's own id stands on stdout in any case.
std::string name_in(const std::vector<std::string>& docker_arguments) {
  std::string name = "ID";
  for (const RunOption& option : read_run_options(docker_arguments)) {
    if (option.name == "--name") name = printable(option.value, 255);
  }
  return name;
}

std::string next_step(const Session& session, const SubmitOptions& options,
                      const std::vector<std::string>& docker_arguments) {
  const Result<Endpoint> endpoint = find_endpoint(session.invocation, session.environment);
  const bool is_there = !session.chose_socket && endpoint && endpoint->is_remote();
  const std::string with = is_there ? " on its host with: " : " with: ";
  return options.hold ? "It waits until you release it" + with + "docker flowcon queue release " +
                            name_in(docker_arguments)
                      : "It starts when there is room; watch it" + with + "docker flowcon queue";
}

// What flowcond says of a job.
struct Heard {
  std::string refusal;  // why it was refused, in words
  std::string doubt;    // why it may be none, in words
};

// Until flowcond has heard of the job, so that the next command finds it.
Heard hear_of(const Session& session, const DaemonClient& daemon, const std::string& id,
              std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  const auto begun = Clock::now();
  std::optional<std::string> unheard;
  while (true) {
    const auto answer = daemon.find("/v1/queue/" + id);
    if (answer && *answer) return {refusal_text(read_job(**answer)), ""};
    if (answer && !unheard)
      unheard = other_engine_text(session, daemon, "it does not start this job");
    // It may be the same engine behind another socket.
    const bool is_other = unheard && !unheard->empty();
    if (is_other && Clock::now() >= begun + patience / 5) return {"", *unheard};
    if (Clock::now() >= begun + patience) {
      return {"", answer ? "flowcond does not know this container; does it watch this engine? See: "
                           "docker flowcon doctor"
                         : "It is not known whether flowcond has this job: " +
                               answer.error().message()};
    }
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace

void declare_submit(CLI::App& app, SubmitOptions& options) {
  declare_job_options(app, options.job);
  app.add_flag("--hold", options.hold, "Do not start the job before docker flowcon queue release");
  app.add_option("--request", options.request,
                 "Cores, memory and GPUs that the job needs, such as cpu=2,mem=3G,gpu=0.5, or some "
                 "of them (default: --cpus, --memory and --gpus, else an estimate)")
      ->type_name("request")
      ->check(as_label("request"));
  app.add_option("--priority", options.priority,
                 "Divides the job's remaining time (2: it counts as half), 0.1 to 10 (default 1)")
      ->type_name("number")
      ->check(as_label("priority"));
  app.add_option(
         "--retries", options.retries,
         "How often it is restarted after a nonzero exit status, 0 to 100 (default 0, of an "
         "elastic job 3)")
      ->type_name("number")
      ->check(as_label("retries"));
  app.add_option("--elastic", options.elastic,
                 "How workers come and go while it runs: no; join, one by one; restart, all save "
                 "themselves and start again; torchrun, as join, by its agents (default no)")
      ->type_name("string")
      ->check(CLI::IsMember({"no", "join", "restart", "torchrun"}));
  app.add_option("--workers", options.workers,
                 "Number of workers, containers that run together as one job, 1 to 192, or a range "
                 "such as 2:6 (default 1)")
      ->type_name("number")
      ->check(as_label("workers"));
  app.add_option("--ps", options.ps,
                 "Number of parameter servers beside the workers, from the same image and command, "
                 "0 to 64 (default 0)")
      ->type_name("number")
      ->check(as_label("ps"));
  app.add_option("--ps-request", options.ps_request,
                 "Like --request, for one parameter server (default: --cpus, else half a core, the "
                 "memory of a worker, and no GPU)")
      ->type_name("request")
      ->check(as_label("ps-request"));
}

std::string check_submit(const SubmitOptions& options,
                         const std::vector<std::string>& docker_arguments) {
  if (docker_arguments.empty()) return "'docker flowcon submit' requires an image";
  const std::string refusal = submit_refusal(docker_arguments);
  return refusal.empty() ? check_job_options(options.job) : refusal;
}

std::vector<std::string> submit_labels(const SubmitOptions& options) {
  return job_labels(options.job, {{"queue", options.hold ? "hold" : "true"},
                                  {"request", options.request},
                                  {"priority", options.priority},
                                  {"retries", options.retries},
                                  {"workers", options.workers},
                                  {"elastic", options.elastic},
                                  {"ps", options.ps},
                                  {"ps-request", options.ps_request}});
}

int run_submit(const Session& session, const SubmitOptions& options,
               const std::vector<std::string>& docker_arguments) {
  const MadeJob made = make_job(session, "create", submit_labels(options), docker_arguments);
  if (made.status != kDone) return made.status;
  if (warn_without_daemon(session, "the job waits until it runs")) return kDone;
  const Result<DaemonClient> daemon = find_daemon(session, "submit");
  Heard heard;
  if (daemon && !made.id.empty()) heard = hear_of(session, *daemon, made.id, options.patience);
  if (!heard.refusal.empty()) return report(session.terminal, bad_input(heard.refusal));
  if (heard.doubt.empty()) heard.doubt = next_step(session, options, docker_arguments);
  session.terminal.err << heard.doubt << "\n";
  return kDone;
}

}  // namespace flowcon::plugin
