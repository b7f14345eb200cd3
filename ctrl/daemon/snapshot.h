// SPDX-License-Identifier: Apache-2.0
// What people and monitoring are shown of a daemon, as it is at one moment. Reads, changes nothing.
// For .cpp files only: it includes Asio.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cgroups/cgroup_fs.h"
#include "ctrl/config.h"
#include "ctrl/daemon/notifier.h"
#include "ctrl/daemon/planning.h"
#include "ctrl/daemon/recorder.h"
#include "ctrl/daemon/roster.h"
#include "ctrl/daemon/world.h"
#include "ctrl/extension.h"
#include "ctrl/logs/log_set.h"

namespace flowcon::ctrl {

inline constexpr int kApiVersion = 1;

/// What a daemon has done since it began.
struct Counts {
  std::uint64_t reverts = 0;    ///< limits found changed by somebody else
  std::uint64_t reapplied = 0;  ///< those of them that were written again
  std::uint64_t decisions = 0;
  std::uint64_t limit_changes = 0;
};

/// Takes no part in the division: a person suspended control of it or of all, or froze it.
[[nodiscard]] bool is_aside(const Job& job, bool is_all_paused);

/// What a daemon shows of itself besides its parts.
struct Shown {
  Counts counts;
  double started = 0;  ///< wall
  bool is_short_of_memory = false;
  std::vector<std::string> warnings;  ///< of its start
};

struct Snapshot {
  const Config& config;
  const Host& host;
  const cgroups::CgroupFs& fs;
  const Roster& roster;
  const Planning& planning;
  const Recorder& recorder;
  const Notifier& notifier;
  const Containers& containers;
  const logs::LogSet& tails;
  const Extension* extension;  ///< null: there is none
  const Shown& shown;
  bool is_all_paused = false;

  /// "controlled", "observed", "paused", "frozen" or "unsupported".
  [[nodiscard]] const char* state_of(const Job& job) const;
  [[nodiscard]] std::vector<std::string> warnings() const;
};

/// Why the engine is not reached; "" = it is.
[[nodiscard]] std::string engine_problem(const Containers& containers);

/// The status of docs/api.md; `recent`: how many values of each container.
[[nodiscard]] std::string status_of(const Snapshot& seen, std::size_t recent);

/// What Prometheus reads, docs/metrics.md.
[[nodiscard]] std::string metrics_of(const Snapshot& seen);

/// Of this machine, valid UTF-8.
[[nodiscard]] std::string host_name();

}  // namespace flowcon::ctrl
