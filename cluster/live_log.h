// SPDX-License-Identifier: Apache-2.0
// What a container prints, a page at a time, for people on the host that it came from. For .cpp
// files only: it includes Asio.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/migration/plan/log_lines.h"
#include "ctrl/api/routes.h"
#include "ctrl/engine/client.h"

namespace flowcon::cluster {

/// A piece of a log, from what the engine answers. Pure. Unit: microseconds since the epoch.
class LogPage {
 public:
  /// Of what was printed after `after`. It is full with at least `most` bytes, and never between
  /// two records of one moment.
  LogPage(bool has_terminal, std::int64_t after, std::size_t most)
      : frames_(has_terminal), after_(after), most_(most), last_(after) {}

  /// What comes once it is full is left out. Errors: as LogFrames::feed().
  [[nodiscard]] Result<void> feed(std::string_view bytes);
  [[nodiscard]] bool is_full() const { return is_full_; }
  /// Records as migration::render_record() writes them.
  [[nodiscard]] const std::string& lines() const { return lines_; }
  /// Where the next page begins.
  [[nodiscard]] std::int64_t after() const { return last_; }
  /// When the first record that came was printed, on the page or before it; empty: none came.
  [[nodiscard]] std::optional<std::int64_t> oldest() const { return oldest_; }

 private:
  void take(const migration::LogRecord& record);

  migration::LogFrames frames_;
  std::int64_t after_;
  std::size_t most_;
  std::int64_t last_;
  std::optional<std::int64_t> oldest_;
  std::string lines_;
  bool is_full_ = false;
};

class LiveLog {
 public:
  explicit LiveLog(ctrl::engine::Client& engine) : engine_(engine) {}
  /// docs/api.md.
  [[nodiscard]] ctrl::api::Routes routes();

 private:
  Async<ctrl::api::Response> answer(ctrl::api::Call call);
  Async<Result<LogPage>> read(std::string path, LogPage page);
  Async<Result<LogPage>> read_asked(ctrl::api::Call call, std::string logs, LogPage empty);

  ctrl::engine::Client& engine_;
};

}  // namespace flowcon::cluster
