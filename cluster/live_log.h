// SPDX-License-Identifier: Apache-2.0
// What a container prints, a page at a time, for people on the host that it came from. For .cpp
// files only: it includes Asio.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/migration/plan/log_lines.h"
#include "ctrl/api/routes.h"
#include "ctrl/engine/client.h"

namespace flowcon::cluster {

/// Where a page begins: behind what was printed before the moment `after`, and behind the first
/// `skip` records of that moment. All pieces of an unfinished line have the moment of the first.
/// Unit: microseconds since the epoch.
struct LogCursor {
  static constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
  std::int64_t after = 0;
  std::int64_t skip = kAll;
};

/// A piece of a log, from what the engine answers. Pure.
class LogPage {
 public:
  /// It is full with at least `most` bytes, at the end of a moment if that comes within half as
  /// many more.
  LogPage(bool has_terminal, LogCursor from, std::size_t most)
      : frames_(has_terminal), from_(from), most_(most) {
    next_.after = from.after;
    // Though none of them may be there any more: the log of what has moved comes later.
    next_.skip = from.skip == LogCursor::kAll ? 0 : from.skip;
  }

  /// What comes once it is full is counted. Errors: as LogFrames::feed().
  [[nodiscard]] Result<void> feed(std::string_view bytes);
  [[nodiscard]] bool is_full() const { return is_full_; }
  /// Records as migration::render_record() writes them.
  [[nodiscard]] const std::string& lines() const { return lines_; }
  /// Where the next page begins.
  [[nodiscard]] LogCursor next() const { return next_; }
  /// It has come no further than the moment at which it begins.
  [[nodiscard]] bool is_within_moment() const { return next_.after == from_.after; }
  /// How many records came, on the page or not.
  [[nodiscard]] std::int64_t records() const { return records_; }
  /// When the first of them was printed; empty: none came.
  [[nodiscard]] std::optional<std::int64_t> oldest() const { return oldest_; }
  /// How many came of that moment.
  [[nodiscard]] std::int64_t of_oldest() const { return of_oldest_; }
  /// So many more of the moment at which the next page begins came before this one.
  void skip(std::int64_t earlier) { next_.skip += earlier; }

 private:
  void take(const migration::LogRecord& record);

  migration::LogFrames frames_;
  LogCursor from_;
  std::size_t most_;
  LogCursor next_;
  std::int64_t given_ = 0;  ///< before this page, of the moment at which it begins
  std::int64_t records_ = 0;
  std::optional<std::int64_t> oldest_;
  std::int64_t of_oldest_ = 0;
  std::string lines_;
  bool is_full_ = false;
};

class LiveLog {
 public:
  explicit LiveLog(ctrl::engine::Client& engine) : engine_(engine) {}
  /// docs/api.md.
  [[nodiscard]] ctrl::api::Routes routes();

 private:
  // The engine's call for a log, and what of it.
  struct Wanted {
    std::string path;
    bool has_terminal = false;
    LogCursor from;
    std::optional<std::int64_t> tail;
  };
  Async<ctrl::api::Response> answer(ctrl::api::Call call);
  Async<Result<LogPage>> read(Wanted wanted, std::optional<std::int64_t> lines, bool counts);
  Async<Result<LogPage>> read_last(Wanted wanted);
  Async<Result<LogPage>> read_next(Wanted wanted);

  ctrl::engine::Client& engine_;
};

}  // namespace flowcon::cluster
