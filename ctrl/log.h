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

void error(std::string_view message);
void warning(std::string_view message);
void info(std::string_view message);
void debug(std::string_view message);

/// Kinds of events that the journal can select and explain (`journalctl -x`): each has a MESSAGE_ID
/// of its own and an entry in packaging/flowcon.catalog.
enum class MessageId {
  container_found,   ///< it comes under control, or why it does not
  container_unread,  ///< its log cannot be read
  container_ended,
  limit_refused,   ///< the kernel did not take one
  limit_reverted,  ///< another program has changed one
  limits_left,     ///< of an earlier run; they are restored
  stopped,         ///< all limits are restored
  decided,         ///< by a person
  engine_found,
  engine_lost,
  config_read,
  config_refused,
  records_wait,  ///< the state folder takes none
  clock_jumped,
  peer_found,
  peer_lost,
  move_step,
  move_trouble,
  job_step  ///< of the queue
};
/// One event at the level of its kind. FLOWCON_ACTION is the kind's word ("engine-lost"),
/// FLOWCON_CONTAINER the container's id where it is about one.
void event(MessageId kind, std::string_view message, std::string_view container = {});

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
