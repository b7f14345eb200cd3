// SPDX-License-Identifier: Apache-2.0
// Names for completion, from flowcond and docker. A shell waits for each, so they have little time;
// without an answer there are no names.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

/// Asked only where such a name may stand. Each may be empty.
struct CompletionNames {
  using Ask = std::function<std::vector<std::string>()>;
  Ask containers;  ///< under control
  Ask others;      ///< running, and not under control
  Ask metrics;     ///< that flowcond found in logs
  Ask peers;       ///< other hosts
  Ask members;     ///< peers added by command, which `peer rm` takes
  Ask hosts;       ///< this one and the others
  Ask jobs;        ///< of the queue, with those that ended lately
  Ask open_jobs;   ///< of the queue, not ended
};

/// Those that ask flowcond and docker. `session` has to outlive them.
[[nodiscard]] CompletionNames ask_names(const Session& session);

/// True if a metric's name has no special characters of a shell: bash expands completions, and the
/// name comes from a log.
[[nodiscard]] bool is_plain_metric(std::string_view name);

}  // namespace flowcon::plugin
