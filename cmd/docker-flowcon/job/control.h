// SPDX-License-Identifier: Apache-2.0
// `docker flowcon adopt` and `release`: a running container comes under control, or leaves it.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/docker-flowcon/command.h"
#include "cmd/docker-flowcon/job/options.h"

namespace flowcon::plugin {

/// True if `name` can be a container's name or id, by docker's own rule. What cannot never gets
/// into a request's path or to a shell.
[[nodiscard]] bool is_container_name(std::string_view name);

/// How long a change may take: the engine has its own pace, and some answers come only when the
/// limits are written.
inline constexpr std::chrono::seconds kControlTimeout{30};

/// "/v1/containers/NAME/ACTION". Errors: `container` cannot be a name.
[[nodiscard]] Result<std::string> container_target(const std::string& container,
                                                   const std::string& action);

struct AdoptOptions {
  std::string container;
  JobOptions job;
};

struct ReleaseOptions {
  std::vector<std::string> containers;
};

void declare_adopt(CLI::App& app, AdoptOptions& options);
[[nodiscard]] std::string check_adopt(const AdoptOptions& options);
[[nodiscard]] int run_adopt(const Session& session, const AdoptOptions& options);

void declare_release(CLI::App& app, ReleaseOptions& options);
/// Goes on after a container that cannot be released; the status is kFailed then.
[[nodiscard]] int run_release(const Session& session, const ReleaseOptions& options);

}  // namespace flowcon::plugin
