// SPDX-License-Identifier: Apache-2.0
// A line of a job's output on its way from a log to who reads it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace flowcon::ctrl::logs {

/// Longest line that is kept whole; of a longer one the first half and the last half of this are
/// kept, since progress bars and tables put their values at either end.
inline constexpr std::size_t kMaxLineBytes = 64 * 1024;

/// One line without its end, and when it was printed.
/// Units: seconds since the Unix epoch; 0 where the source does not say.
struct Line {
  std::string_view text;  ///< valid during the call only; may hold invalid UTF-8, no ANSI codes
  double time = 0;
  bool is_stderr = false;
  bool is_known = false;  ///< an earlier reader of the log has had it already, see Position
};

using LineSink = std::function<void(const Line&)>;

struct FramingStats {
  std::uint64_t lines = 0;
  std::uint64_t newlines = 0;     ///< lines that ended in one, not in \r or \b
  std::uint64_t cut_lines = 0;    ///< lines longer than kMaxLineBytes
  std::uint64_t bad_records = 0;  ///< records that are not what the format says

  /// Of another stream of the same log.
  void add_lines(const FramingStats& other) {
    lines += other.lines;
    newlines += other.newlines;
    cut_lines += other.cut_lines;
  }
};

}  // namespace flowcon::ctrl::logs
