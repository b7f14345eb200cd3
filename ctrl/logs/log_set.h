// SPDX-License-Identifier: Apache-2.0
// All followed logs of a daemon, in files and in systemd's journal, under one roof.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "ctrl/logs/tail.h"

namespace flowcon::ctrl::logs {

class LogSet {
 public:
  /// As TailSet; `journal` is the journal's folder, "" = this system's.
  explicit LogSet(boost::asio::io_context& io,
                  std::chrono::milliseconds batch = std::chrono::milliseconds(1000),
                  std::chrono::milliseconds check = std::chrono::seconds(30),
                  std::string journal = "");
  ~LogSet();
  LogSet(const LogSet&) = delete;
  LogSet& operator=(const LogSet&) = delete;

  /// As TailSet::start(). `from` is what position() or stop() gave, as text; what is no such text,
  /// or one of another kind of log, is as "".
  [[nodiscard]] Result<void> start(const std::string& id, const Source& source,
                                   const std::string& from, LineSink sink);
  /// Follows the entries of the container `id` in the journal. Errors: EEXIST; the journal's.
  [[nodiscard]] Result<void> start_journal(const std::string& id, const std::string& from,
                                           LineSink sink);
  /// As TailSet::stop(), the position as text; "" = none.
  std::string stop(const std::string& id, bool drain);
  /// As TailSet::drain().
  [[nodiscard]] bool drain(const std::string& id, std::function<void(const std::string&)> done);
  [[nodiscard]] std::string position(const std::string& id) const;
  [[nodiscard]] TailStats stats(const std::string& id) const;

 private:
  struct Impl;
  TailSet tails_;
  std::shared_ptr<Impl> impl_;
};

}  // namespace flowcon::ctrl::logs
