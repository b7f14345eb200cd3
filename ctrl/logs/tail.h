// SPDX-License-Identifier: Apache-2.0
// Follows containers' json-file logs and hands on their lines. Inotify, never polling a quiet file;
// at most 64 KiB a turn and job, so that one noisy job cannot starve the rest. Rotation (Docker's
// max-size and max-file), truncation, deletion and replacement are handled; rotated files that
// Docker has compressed already are not read.
#pragma once

#include <chrono>
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
  std::uint64_t inode = 0;  ///< 0: nothing has been read
  std::uint64_t offset = 0;
  bool operator==(const Position&) const = default;
};

struct TailStats {
  std::uint64_t bytes = 0;
  std::uint64_t rotations = 0;  ///< times that reading went on in a younger file
  std::uint64_t truncations = 0;
  FramingStats framing;
  std::string problem;  ///< "" = reading; else why not, for a person
};

/// One inotify descriptor for all tails of a daemon.
class TailSet {
 public:
  /// `batch`: after a wake the set sleeps so long before it looks again, so that many jobs' lines
  /// cost one wake. The first line after a pause is read at once; a line's own time is Docker's.
  explicit TailSet(boost::asio::io_context& io,
                   std::chrono::milliseconds batch = std::chrono::milliseconds(500));
  ~TailSet();
  TailSet(const TailSet&) = delete;
  TailSet& operator=(const TailSet&) = delete;

  /// Starts following `path` for `id`: lines from `from` on reach `sink` on the loop, never within
  /// this call. Where `from` is empty, or its file is gone, everything there is is read, the oldest
  /// rotated predecessor (path.1, path.2 …) first; where its file has been rotated, reading goes on
  /// in it. A file that does not exist yet is waited for; its folder must exist. Links and whatever
  /// is not a regular file are refused, see TailStats::problem. The sink may call stop() and
  /// start(). Errors: EEXIST `id` is followed already; ENOENT no such folder; ENOSPC, EMFILE
  /// inotify's limits (the message says which sysctl).
  [[nodiscard]] Result<void> start(const std::string& id, const std::string& path, Position from,
                                   LineSink sink);
  /// Stops following. With `drain` the rest of the log is read first, at most 16 MiB of it, and a
  /// last line without an end is handed on, so that a finished job's last lines count; all within
  /// this call, or, when a sink calls it for its own id, right after that sink's call has returned.
  /// Without `drain` the sink is not called again. Unknown ids are ignored.
  void stop(const std::string& id, bool drain);
  /// Where a later start() goes on; what start() was given while nothing has been read; {} for an
  /// unknown id. Lines of the chunk that is being handed on do not count as read.
  [[nodiscard]] Position position(const std::string& id) const;
  [[nodiscard]] TailStats stats(const std::string& id) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace flowcon::ctrl::logs
