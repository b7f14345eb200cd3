// SPDX-License-Identifier: Apache-2.0
// Who is there: the jobs of a daemon, as its parts share them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ctrl/job.h"

namespace flowcon::ctrl {

/// A job that has ended. `time`: seconds since the epoch.
struct Ending {
  Job job;
  double time = 0;
  std::optional<int> status;
  bool is_half_read = false;
};

struct Roster {
  std::map<std::string, Job> jobs;       ///< by id; supported and unsupported ones
  std::map<std::string, Ending> ending;  ///< have ended, and their logs are read to the end
  std::vector<std::string> active;       ///< supported, running, not paused; in order of arrival

  /// The id that an id, a name or a unique beginning of one means; "" = none.
  [[nodiscard]] std::string find(const std::string& name) const {
    // As the engine: a whole id before a name.
    if (jobs.contains(name)) return name;
    for (const auto& [id, job] : jobs) {
      if (job.container.name == name) return id;
    }
    std::string by_prefix;
    for (const auto& [id, job] : jobs) {
      if (name.empty() || !id.starts_with(name)) continue;
      if (!by_prefix.empty()) return "";  // not unique
      by_prefix = id;
    }
    return by_prefix;
  }
  /// The job whose log is read, also one that has ended; null = none.
  [[nodiscard]] Job* reading(const std::string& id) {
    if (const auto found = jobs.find(id); found != jobs.end()) return &found->second;
    const auto found = ending.find(id);
    return found == ending.end() ? nullptr : &found->second.job;
  }
};

}  // namespace flowcon::ctrl
