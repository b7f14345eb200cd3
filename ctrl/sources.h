// SPDX-License-Identifier: Apache-2.0
// Where a container's lines come from: its log driver's files, or a file that the job itself
// writes.
#pragma once

#include <string>

#include "base/result.h"
#include "ctrl/engine/client.h"
#include "ctrl/logs/tail.h"
#include "ctrl/settings.h"

namespace flowcon::ctrl {

/// A container's log. Positions of one name are positions in one log.
struct LogChoice {
  std::string
      name;  ///< "json-file", "local", "cache of syslog", "journald", "/out/log", "tfevents:/out"
  logs::Format format = logs::Format::json_file;
  std::string path;         ///< on the host, or inside the container
  bool is_journal = false;  ///< systemd's journal: no path
  bool is_inside = false;   ///< `path` is one that the container sees
};

/// Pure: which log to follow. The error is a sentence for the status: the driver keeps nothing on
/// this host, or the engine does not say where.
[[nodiscard]] Result<LogChoice> choose_log(const engine::Container& container,
                                           const Settings& settings);

/// What is needed to open its files. Errors: a sentence where the process is not the container's;
/// ENOENT it has ended; else the kernel's errno.
[[nodiscard]] Result<logs::Source> open_log(const LogChoice& choice,
                                            const engine::Container& container);

}  // namespace flowcon::ctrl
