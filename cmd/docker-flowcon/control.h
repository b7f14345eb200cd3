// SPDX-License-Identifier: Apache-2.0
// `docker flowcon adopt` and `release`: a running container comes under control, or leaves it.
#pragma once

#include <string>
#include <vector>

#include "cmd/docker-flowcon/command.h"
#include "cmd/docker-flowcon/job_options.h"

namespace flowcon::plugin {

struct AdoptOptions {
  std::string container;
  JobOptions job;
};

struct ReleaseOptions {
  std::vector<std::string> containers;
};

void declare_adopt(CLI::App& app, AdoptOptions& options);
[[nodiscard]] int run_adopt(const Session& session, const AdoptOptions& options);

void declare_release(CLI::App& app, ReleaseOptions& options);
/// Goes on after a container that cannot be released; the status is kFailed then.
[[nodiscard]] int run_release(const Session& session, const ReleaseOptions& options);

}  // namespace flowcon::plugin
