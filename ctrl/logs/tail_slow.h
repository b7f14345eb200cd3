// SPDX-License-Identifier: Apache-2.0
// Logs whose file system may not answer: of the network, or FUSE. No event reports what other
// hosts write there, so they are read in intervals, each step by the helper thread of its file
// system. While a helper has a reader the loop leaves it alone; what it knows is from the last
// answer, and what a helper has read but not handed over is read again, never counted twice.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ctrl/logs/tail.h"
#include "ctrl/logs/tail_container.h"
#include "ctrl/logs/tail_helper.h"
#include "ctrl/logs/tail_reader.h"

namespace flowcon::ctrl::logs {

/// A line that has left its reader's buffer.
struct KeptLine {
  std::string text;
  double time = 0;
  bool is_stderr = false;
  bool is_known = false;
};

/// Where a reader's lines go: to the sink, or they are kept for it.
struct Spout {
  LineSink sink;
  bool keeps = false;
  std::vector<KeptLine> kept;
  void take(const Line& line) {
    if (!keeps) return sink(line);
    kept.push_back({std::string(line.text), line.time, line.is_stderr, line.is_known});
  }
};

class SlowLogs {
 public:
  using Done = std::function<void(const Position&)>;
  SlowLogs(boost::asio::io_context& io, std::chrono::milliseconds patience);
  ~SlowLogs();
  SlowLogs(const SlowLogs&) = delete;
  SlowLogs& operator=(const SlowLogs&) = delete;

  /// Takes over what `reader`, whose lines go to `spout`, has begun or not; `position` is where it
  /// is. Lines come on the loop, never within this call.
  void start(const std::string& id, const SlowMount& mount, std::unique_ptr<LogReader> reader,
             std::shared_ptr<Spout> spout, const Position& position);
  /// Waits for nothing. Gives where a later start goes on.
  Position stop(const std::string& id);
  /// As TailSet::drain().
  [[nodiscard]] bool drain(const std::string& id, Done done);
  /// Reads all of them; to be called in intervals.
  void look();
  /// Stops all; no sink is called again.
  void close();

  [[nodiscard]] bool has(const std::string& id) const;
  [[nodiscard]] bool is_empty() const;
  [[nodiscard]] Position position(const std::string& id) const;
  /// With why it is not read, where it is not: the helper has not answered for `patience`.
  [[nodiscard]] TailStats stats(const std::string& id) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace flowcon::ctrl::logs
