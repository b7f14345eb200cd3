// SPDX-License-Identifier: Apache-2.0
// Follows one container's json-file log and hands on its lines. Inotify, never polling a quiet
// file; at most 64 KiB a wake, so that one noisy job cannot starve the rest.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "ctrl/logs/framing.h"

namespace boost::asio {
class io_context;
}

namespace flowcon::ctrl::logs {

/// Where reading stopped, so that a later daemon goes on there. `offset` is at a record's start.
struct Position {
  std::uint64_t inode = 0;
  std::uint64_t offset = 0;
};

struct TailStats {
  std::uint64_t bytes = 0;
  std::uint64_t rotations = 0;
  std::uint64_t truncations = 0;
  FramingStats framing;
  std::string problem;  ///< "" = reading; else why not, for a person
};

/// One inotify descriptor for all tails of a daemon.
class TailSet {
 public:
  explicit TailSet(boost::asio::io_context& io);
  ~TailSet();
  TailSet(const TailSet&) = delete;
  TailSet& operator=(const TailSet&) = delete;

  /// Starts following `path` for `id`. Lines of the file from `from` on (or all of it where `from`
  /// is empty or belongs to another inode; then rotated predecessors path.1 ... are read first
  /// where they hold unread lines) reach `sink` on the loop. A file that does not exist yet is
  /// waited for. The sink may call stop(id).
  /// Errors: inotify limits (says which sysctl), `id` already followed.
  [[nodiscard]] Result<void> start(const std::string& id, const std::string& path, Position from,
                                   LineSink sink);
  /// Stops following. With `drain` the rest of the file is read first, at most 16 MiB of it, so
  /// that a finished job's last lines count. Unknown ids are ignored.
  void stop(const std::string& id, bool drain);
  [[nodiscard]] Position position(const std::string& id) const;
  [[nodiscard]] TailStats stats(const std::string& id) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace flowcon::ctrl::logs
