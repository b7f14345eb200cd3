// SPDX-License-Identifier: Apache-2.0
// The daemon's log: the journal where stderr is connected to it, else one line on stderr. The only
// file that calls sd_journal_send. A job's own output is never logged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace flowcon::ctrl::log {

enum class Level { error = 3, warning = 4, notice = 5, info = 6, debug = 7 };

/// Messages above this level are dropped. Default: info.
void set_level(Level level);
/// Errors: empty when the word is none of error, warning, notice, info, debug.
[[nodiscard]] bool parse_level(std::string_view word, Level* level);

void error(std::string_view message);
void warning(std::string_view message);
void info(std::string_view message);
void debug(std::string_view message);

/// One applied (or, in a dry run, planned) limit.
struct LimitChange {
  std::string container;  ///< name
  std::string id;
  double before = 1;
  double after = 1;
  std::string reason;  ///< as the decision gave it
  bool dry_run = false;
};
void limit_change(const LimitChange& change);

/// Counts repeated failures under one key and says when the next one is worth a line: at 1, 10,
/// 100, ... occurrences.
class Repeated {
 public:
  /// True if this occurrence should be logged.
  [[nodiscard]] bool count();
  [[nodiscard]] std::uint64_t total() const { return total_; }
  void reset() {
    total_ = 0;
    next_ = 1;
  }

 private:
  std::uint64_t total_ = 0;
  std::uint64_t next_ = 1;
};

}  // namespace flowcon::ctrl::log
