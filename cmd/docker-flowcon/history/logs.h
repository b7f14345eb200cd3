// SPDX-License-Identifier: Apache-2.0
// `docker flowcon logs`: what a container printed on all the hosts it has been on. Shows what
// flowcond keeps of the earlier ones, then becomes `docker logs`.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "cluster/migration/plan/log_lines.h"
#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

struct LogsOptions {
  std::string container;
  bool details = false;
  bool follow = false;
  std::string since;
  std::string tail = "all";
  bool timestamps = false;
  std::string until;
};

void declare_logs(CLI::App& app, LogsOptions& options);
[[nodiscard]] std::string check_logs(const LogsOptions& options);

/// Becomes docker. Returns only where that fails, or a line cannot be written.
[[nodiscard]] int run_logs(const Session& session, const LogsOptions& options);

/// Which records of the past are shown. Pure.
class PastLines {
 public:
  /// Units: seconds since the epoch. `last`: at most so many lines, the last ones; none = all.
  PastLines(std::optional<double> since, std::optional<double> until,
            std::optional<std::size_t> last)
      : since_(since), until_(until), last_(last) {}

  /// Takes lines as flowcond keeps them, whole ones. What is no record is left out.
  void take(std::string_view lines);
  /// What may be shown by now, in order: with `last` nothing before the end.
  [[nodiscard]] std::deque<cluster::migration::LogRecord> shown(bool is_end);

 private:
  std::optional<double> since_;
  std::optional<double> until_;
  std::optional<std::size_t> last_;
  std::size_t lines_ = 0;  ///< in records_
  std::deque<cluster::migration::LogRecord> records_;
};

}  // namespace flowcon::plugin
