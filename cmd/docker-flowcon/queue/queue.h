// SPDX-License-Identifier: Apache-2.0
// `docker flowcon queue` and the commands under it: the jobs that wait and run, and what people
// decide about them.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

/// Why an answer of GET /v1/queue/NAME is about no job of a person's: it is a task of one. "" = it
/// is a job.
[[nodiscard]] std::string why_no_job(const boost::json::value& answer);

/// What is said of a container that flowcond does not know: `error`, or, where a job of the queue
/// has its name, that it waits or what its tasks are called.
[[nodiscard]] Error or_job(const DaemonClient& daemon, const std::string& container,
                           const Error& error);

struct QueueOptions {
  std::string format;
  bool all = false;    ///< those that ended lately, too
  bool hosts = false;  ///< those of other hosts, too
};

struct QueueShowOptions {
  std::string format;  ///< json; else text
  std::vector<std::string> jobs;
};

struct QueueJobsOptions {
  std::string action;  ///< cancel, hold, park or release: the command's name
  std::vector<std::string> jobs;
};

struct QueueScaleOptions {
  std::string job;
  std::string workers;  ///< a number, or "none": as it was submitted
};

/// "" = not given; "none" takes it back.
struct QueueSetOptions {
  std::vector<std::string> jobs;
  std::string priority;
  std::string request;
  std::string retries;
};

struct QueueRestartOptions {
  std::vector<std::string> jobs;
  std::string without;  ///< a host that is lost
};

/// "/v1/queue/NAME", with "/ACTION" where it is not "". Errors: `job` cannot be a name.
[[nodiscard]] Result<std::string> job_target(const std::string& job, const std::string& action);

void declare_queue(CLI::App& app, QueueOptions& options);
[[nodiscard]] std::string check_queue(const QueueOptions& options,
                                      const std::vector<std::string>& rest);
[[nodiscard]] int run_queue(const Session& session, const QueueOptions& options);

void declare_queue_show(CLI::App& app, QueueShowOptions& options);
[[nodiscard]] int run_queue_show(const Session& session, const QueueShowOptions& options);

// run_queue_… ask flowcond job by job, print the name of each finished one and what it says of it,
// continue after a failure, and then return kFailed.

void declare_queue_jobs(CLI::App& app, QueueJobsOptions& options);
[[nodiscard]] int run_queue_jobs(const Session& session, const QueueJobsOptions& options);

void declare_queue_restart(CLI::App& app, QueueRestartOptions& options);
[[nodiscard]] int run_queue_restart(const Session& session, const QueueRestartOptions& options);

void declare_queue_scale(CLI::App& app, QueueScaleOptions& options);
[[nodiscard]] int run_queue_scale(const Session& session, const QueueScaleOptions& options);

void declare_queue_set(CLI::App& app, QueueSetOptions& options);
[[nodiscard]] std::string check_queue_set(const QueueSetOptions& options);
[[nodiscard]] int run_queue_set(const Session& session, const QueueSetOptions& options);

/// The body of the call, as docs/api.md has it.
[[nodiscard]] boost::json::object queue_set_body(const QueueSetOptions& options);

}  // namespace flowcon::plugin
