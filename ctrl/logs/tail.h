// SPDX-License-Identifier: Apache-2.0
// Follows the logs of containers, whatever their format, and hands on their lines. Inotify, never
// polling a quiet file, but for a slow check now and then, since events can be lost; about 64 KiB a
// turn of the loop, so that one noisy job cannot starve the rest. Rotation (Docker's max-size and
// max-file, compressed or not), truncation, deletion and replacement are handled. A log on a
// network or FUSE file system is read by a thread of that file system, which nobody waits for.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "ctrl/logs/framing_decoder.h"
#include "ctrl/logs/framing_position.h"

namespace boost::asio {
class io_context;
}

namespace flowcon::ctrl::logs {

class ContainerView;

/// What to follow. `path` is the youngest file's, absolute: on the host, or with a `view` as that
/// container sees it. With Format::tfevents it may be a folder.
struct Source {
  Format format = Format::json_file;
  std::string path;
  std::shared_ptr<const ContainerView> view;
};

struct TailStats {
  std::uint64_t bytes = 0;
  std::uint64_t rotations = 0;  ///< times that reading went on in a younger file
  std::uint64_t truncations = 0;
  std::uint64_t rescues = 0;  ///< times that a slow check found what no event had announced
  FramingStats framing;
  bool is_catching_up = false;  ///< what is read was known to an earlier reader
  std::string problem;          ///< "" = reading; else why not, for a person
};

/// One inotify descriptor for all tails of a daemon.
class TailSet {
 public:
  /// `batch`: after a wake the set sleeps so long before it reads again, so that many jobs' lines
  /// cost one wake. The first line after a pause is read at once; a line's own time is Docker's.
  /// `check`: how often all logs are checked without an event; one whose file or folder is not
  /// there yet is checked every two seconds, or as often where that is less; so is one that
  /// inotify cannot watch. `patience`: after so long without an answer a file system is said not to
  /// answer.
  explicit TailSet(boost::asio::io_context& io,
                   std::chrono::milliseconds batch = std::chrono::milliseconds(1000),
                   std::chrono::milliseconds check = std::chrono::seconds(30),
                   std::chrono::milliseconds patience = std::chrono::seconds(10));
  ~TailSet();
  TailSet(const TailSet&) = delete;
  TailSet& operator=(const TailSet&) = delete;

  /// Starts following `source` for `id`: its lines reach `sink` on the loop, never within this
  /// call. Everything there is is read, the oldest rotated predecessor (path.1, path.2 …) first,
  /// those of a file of the job's own (text, tfevents) excepted; what stands before `from` comes
  /// marked with Line::is_known, so that who reads can build up what an earlier daemon knew and
  /// count nothing twice. A file that does not exist yet is waited for; on the host its folder must
  /// exist. Links (on the host) and whatever is not a regular file are refused, see
  /// TailStats::problem. The sink may call stop() and start(). Errors: EEXIST `id` is followed
  /// already; ENOENT no such folder.
  [[nodiscard]] Result<void> start(const std::string& id, const Source& source,
                                   const Position& from, LineSink sink);
  /// Stops following. With `drain` the rest of the log is read first, at most 16 MiB of it, and a
  /// last line without an end is handed on, so that a finished job's last lines count; all within
  /// this call, or, when a sink calls it for its own id, right after that sink's call has returned.
  /// Without `drain` the sink is not called again. Gives where a later start() goes on; {} for an
  /// unknown id.
  Position stop(const std::string& id, bool drain);
  /// The same with `drain` for a log whose rest has to be waited for, which stop() does not do: its
  /// file system may not answer, or its job has packed it. What need not be waited for is read
  /// within this call, the rest until its end or for the time of `patience`; then `done` is called
  /// on the loop, with where a later start() goes on, unless stop() was called before. False:
  /// nothing is left to wait for, and stop() ends it.
  [[nodiscard]] bool drain(const std::string& id, std::function<void(const Position&)> done);
  /// Where a later start() goes on; what start() was given while nothing has been read; {} for an
  /// unknown id. Lines of the chunk that is being handed on do not count as read.
  [[nodiscard]] Position position(const std::string& id) const;
  [[nodiscard]] TailStats stats(const std::string& id) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace flowcon::ctrl::logs
