// SPDX-License-Identifier: Apache-2.0
// `docker flowcon logs`: the output of a container on all its hosts. Shows flowcond's copy of the
// earlier ones, then runs `docker logs`.
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

/// Returns the status of `docker logs`, kFailed if a line cannot be written or an answer is an
/// error.
[[nodiscard]] int run_logs(const Session& session, const LogsOptions& options);

/// Selects the records of earlier hosts to show. Pure.
class PastLines {
 public:
  /// Units: seconds since the epoch. `last`: at most so many lines, the last ones; none = all.
  PastLines(std::optional<double> since, std::optional<double> until,
            std::optional<std::size_t> last)
      : since_(since), until_(until), last_(last) {}

  /// Takes whole lines as flowcond keeps them; skips lines that are no records.
  void take(std::string_view lines);
  /// The lines that can be shown now, in order: with `last` none before the end.
  [[nodiscard]] std::deque<cluster::migration::LogRecord> shown(bool is_end);

 private:
  std::optional<double> since_;
  std::optional<double> until_;
  std::optional<std::size_t> last_;
  std::size_t lines_ = 0;  ///< in records_
  std::deque<cluster::migration::LogRecord> records_;
};

}  // namespace flowcon::plugin
