// SPDX-License-Identifier: Apache-2.0
// A container's log as it travels, and as it is kept: the engine's stream of it taken apart, and
// lines of JSON as the driver json-file writes them. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace flowcon::cluster::migration {

/// What the job wrote at once: a line with its end, or a piece of one that the engine split.
/// Units: nanoseconds since the epoch.
struct LogRecord {
  std::int64_t time_ns = 0;
  bool is_error = false;  ///< stderr
  std::string text;       ///< at most kMaxLogText bytes
  bool operator==(const LogRecord&) const = default;
};

/// Engines split lines at 16 KiB; some drivers keep longer ones.
inline constexpr std::size_t kMaxLogText = 1U << 20;

using LogSink = std::function<void(LogRecord)>;

/// "2026-11-21T12:13:44.535332288Z", with any count of decimals and any zone. Errors: no such time;
/// a year before 1970 or after 2200.
[[nodiscard]] Result<std::int64_t> parse_log_time(std::string_view text);
[[nodiscard]] std::string render_log_time(std::int64_t time_ns);

/// What GET /containers/ID/logs?timestamps=1 answers, as it comes: frames, or with a terminal the
/// bare text, of which a line of more than 16 KiB comes in pieces, as with frames. Text that has no
/// time gets that of the record before it.
class LogFrames {
 public:
  explicit LogFrames(bool has_terminal) : has_terminal_(has_terminal) {}

  /// Errors: no such frames; one of more than kMaxLogText bytes. What comes after the engine
  /// has said that it cannot read on is left out.
  [[nodiscard]] Result<void> feed(std::string_view bytes, const LogSink& sink);
  /// Errors: a frame is not whole.
  [[nodiscard]] Result<void> finish(const LogSink& sink);
  /// What the engine said where it could not read on; "" where it could.
  [[nodiscard]] const std::string& why_broken() const { return why_broken_; }
  /// When the last record was written.
  [[nodiscard]] std::int64_t last_ns() const { return last_ns_; }

 private:
  [[nodiscard]] Result<void> take_frame(unsigned char kind, std::string_view text,
                                        const LogSink& sink);
  void take_line(std::string_view text, const LogSink& sink);
  void break_off(std::string_view said);
  void take_text(bool is_error, std::string_view text, const LogSink& sink);

  bool has_terminal_;
  std::string pending_;
  std::int64_t last_ns_ = 0;
  std::string why_broken_;
};

/// {"log":"…","stream":"stdout","time":"…"} with a newline. Bytes that are no UTF-8 become U+FFFD,
/// as the engine does it.
[[nodiscard]] std::string render_record(const LogRecord& record);
/// A line without its newline. Errors: not JSON, a member that is missing or is not what it may be.
[[nodiscard]] Result<LogRecord> parse_record(std::string_view line);

/// A file of the driver json-file that the engine cannot read on in, since a full disk has torn a
/// record: what is whole of it, and newer than `after_ns`.
class TornRecords {
 public:
  explicit TornRecords(std::int64_t after_ns) : after_ns_(after_ns) {}
  void feed(std::string_view bytes, const LogSink& sink);

 private:
  void take_line(std::string_view line, const LogSink& sink) const;

  std::int64_t after_ns_;
  std::string pending_;
  bool is_too_long_ = false;  ///< the line that has begun
};

/// The first line of a log that travels: `now` is its sender's clock. Units: seconds since the
/// epoch.
[[nodiscard]] std::string render_log_head(double now);

/// A log that travels, as it comes.
class LogLines {
 public:
  /// `now`: the receiver's clock when the first line came. Times of records are as on its clock,
  /// where the sender's is off by more than kClockSlack seconds.
  using Clock = std::function<double()>;
  explicit LogLines(Clock now) : now_(std::move(now)) {}

  /// Errors: a line that is none, or is longer than a record can be.
  [[nodiscard]] Result<void> feed(std::string_view bytes, const LogSink& sink);
  /// Errors: it has no first line, or ends within one.
  [[nodiscard]] Result<void> finish() const;
  [[nodiscard]] std::uint64_t records() const { return records_; }

  static constexpr double kClockSlack = 2;

 private:
  [[nodiscard]] Result<void> take_line(std::string_view line, const LogSink& sink);

  Clock now_;
  std::string pending_;
  std::optional<std::int64_t> shift_ns_;  ///< none before the first line
  std::uint64_t records_ = 0;
};

}  // namespace flowcon::cluster::migration
