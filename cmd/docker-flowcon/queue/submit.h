// SPDX-License-Identifier: Apache-2.0
// `docker flowcon submit`: `docker create` with labels added as `run` adds them. The container that
// was created and never started is the job; flowcond starts it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cmd/docker-flowcon/command.h"
#include "cmd/docker-flowcon/job/options.h"

namespace flowcon::plugin {

/// "" = not given.
struct SubmitOptions {
  JobOptions job;
  bool hold = false;
  std::string request;   ///< "cpu=2,mem=3G"
  std::string priority;  ///< 0.1 to 10
  std::string retries;   ///< 0 to 100
  std::string workers;   ///< 1 to 192, or "2:6"
  std::string elastic;   ///< "no", "join", "restart", "torchrun"
  std::string ps;        ///< parameter servers, 0 to 64
  std::string ps_request;
  std::chrono::milliseconds patience{5000};  ///< until flowcond has heard of the job
};

void declare_submit(CLI::App& app, SubmitOptions& options);
/// A sentence, or "": no image, an option that contradicts another, one of docker's that a job
/// cannot have.
[[nodiscard]] std::string check_submit(const SubmitOptions& options,
                                       const std::vector<std::string>& docker_arguments);

/// Those of `run`, and the queue's.
[[nodiscard]] std::vector<std::string> submit_labels(const SubmitOptions& options);

/// Returns docker's status, kFailed where flowcond refuses the job. On success it says what happens
/// next, or that flowcond does not know the container.
[[nodiscard]] int run_submit(const Session& session, const SubmitOptions& options,
                             const std::vector<std::string>& docker_arguments);

}  // namespace flowcon::plugin
