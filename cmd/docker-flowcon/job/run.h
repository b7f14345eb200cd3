// SPDX-License-Identifier: Apache-2.0
// `docker flowcon run`: `docker run` with labels added, and PYTHONUNBUFFERED=1 unless the
// arguments set it. It reads no other option of docker but --cidfile. `submit` shares its parts.
#pragma once

#include <string>
#include <vector>

#include "cmd/docker-flowcon/command.h"
#include "cmd/docker-flowcon/job/options.h"

namespace flowcon::plugin {

/// A program to become. `arguments` begins with the program's name; `environment` is NAME=VALUE.
struct ExecPlan {
  std::string program;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
};

/// docker with its global options, then `words`. The environment lacks the variables that docker
/// sets for plugins.
[[nodiscard]] ExecPlan plan_docker(const Invocation& invocation, const Environment& environment,
                                   const std::vector<std::string>& words);

/// Returns only if it fails: 127 if the program is not found, else 126.
[[nodiscard]] int become(ExecPlan plan, Terminal& terminal);

/// docker with its global options, `command` (run or create, with options of ours), a --label for
/// each of `labels`, PYTHONUNBUFFERED=1 unless `docker_arguments` set it, and those.
[[nodiscard]] ExecPlan plan_job(const Invocation& invocation, const Environment& environment,
                                std::vector<std::string> command,
                                const std::vector<std::string>& labels,
                                const std::vector<std::string>& docker_arguments);

/// Says on stderr that flowcond does not run here, if so, and that `consequence`. Returns whether
/// it did.
bool warn_without_daemon(const Session& session, const std::string& consequence);

/// docker with its global options, `run`, the labels and `docker_arguments`.
[[nodiscard]] ExecPlan plan_run(const Invocation& invocation, const Environment& environment,
                                const JobOptions& options,
                                const std::vector<std::string>& docker_arguments);

/// What docker came to, and the id of the container; "" = not known.
struct MadeJob {
  int status = 0;
  std::string id;
};

/// docker by plan_job(), until it ends.
[[nodiscard]] MadeJob make_job(const Session& session, const std::string& command,
                               const std::vector<std::string>& labels,
                               const std::vector<std::string>& docker_arguments);

/// If docker's containers are on another host: returns docker's status. Else the job's, also after
/// a migration stopped it here (follow_job()). 127 if docker is not found, 126 if it cannot be
/// started.
[[nodiscard]] int run_run(const Session& session, const JobOptions& options,
                          const std::vector<std::string>& docker_arguments);

/// Becomes docker to complete `words`, "run" or "create" first. `call` is __complete or
/// __completeNoDesc.
[[nodiscard]] int complete_docker(const Session& session, const std::string& call,
                                  const std::vector<std::string>& words);

}  // namespace flowcon::plugin
