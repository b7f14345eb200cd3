// SPDX-License-Identifier: Apache-2.0
// The daemon of one host: wait, freeze now, snapshot, decide, apply, record. Everything it knows is
// in its jobs; every decision comes from ctrl/policy, every effect goes through Limits and Store.
#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "cgroups/cgroup_fs.h"
#include "ctrl/config.h"
#include "ctrl/extension.h"

namespace flowcon::ctrl {

/// Reads the configuration again, from where it came.
using ConfigSource = std::function<Result<Config>()>;

/// Runs the daemon until SIGTERM or SIGINT; every limit is restored when it returns. SIGHUP asks
/// `source` for the configuration again; a wrong one is told and changes nothing. `extension` runs
/// beside it.
/// Errors: what it needs at the start is missing (state, socket, cgroups); nothing was changed
/// then.
[[nodiscard]] Result<void> run_daemon(const Config& config, const ConfigSource& source,
                                      const MakeExtension& extension);

/// Restores the limits that an earlier run has left, as a start does, for one that cannot start.
/// Not without a journal in the state folder, and not where another flowcond uses that folder.
/// Errors: the state cannot be read; no cgroups.
[[nodiscard]] Result<void> restore_leftovers(
    const Config& config, const std::function<Result<std::unique_ptr<cgroups::CgroupFs>>()>& open =
                              cgroups::open_kernel_cgroups);

/// Ends the process as exit() does. What it does for a file system that has not answered is not
/// waited for.
[[noreturn]] void end_process(int status);

}  // namespace flowcon::ctrl
