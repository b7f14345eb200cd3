// SPDX-License-Identifier: Apache-2.0
// `docker flowcon fetch`: what a job of the queue has written, as files in a folder.
#pragma once

#include <string>
#include <vector>

#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

struct FetchOptions {
  std::vector<std::string> jobs;
  std::string output;
};

void declare_fetch(CLI::App& app, FetchOptions& options);

/// Copies the job's log, or those of its tasks, its volumes and the files that it has made beside
/// them into a folder that is empty or not there yet, by docker's own commands, and prints what is
/// there then; what cannot be copied keeps nothing else back. Returns kFailed with a sentence: no
/// such job, it is on another host still, docker's own.
[[nodiscard]] int run_fetch(const Session& session, const FetchOptions& options);

/// What is to be copied of a container: its mounts that have data of their own, and what `diff`
/// (docker diff) says it has made outside of them, each without what lies within another one.
/// Absolute paths without "." and ".."; others are left out. `inspect`: docker inspect. Errors: too
/// many.
[[nodiscard]] Result<std::vector<std::string>> paths_to_fetch(const std::string& inspect,
                                                              const std::string& diff);

}  // namespace flowcon::plugin
