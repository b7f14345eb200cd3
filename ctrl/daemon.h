// SPDX-License-Identifier: Apache-2.0
// The daemon of one host: wait, freeze now, snapshot, decide, apply, record. Everything it knows is
// in its jobs; every decision comes from ctrl/policy, every effect goes through Limits and Store.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "ctrl/config.h"

namespace flowcon::ctrl {

/// Runs the daemon until SIGTERM or SIGINT; every limit is restored when it returns.
/// Errors: what it needs at the start is missing (state, socket, cgroups); nothing was changed
/// then.
[[nodiscard]] Result<void> run_daemon(const Config& config);

}  // namespace flowcon::ctrl
