// SPDX-License-Identifier: Apache-2.0
// Bytes of a log file become lines of a job's output. Pure: no I/O. Bounded: a line of any length
// costs at most kMaxLineBytes of memory; what is beyond that is dropped and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ctrl/logs/framing_decoder.h"
#include "ctrl/logs/framing_line.h"

namespace flowcon::ctrl::logs {

/// Longest json-file record that is decoded. Docker writes at most 16 KiB of output a record, each
/// byte of which takes at most six in JSON.
inline constexpr std::size_t kMaxRecordBytes = 256 * 1024;

/// Splits a job's raw output into lines: at \n, \r\n and at a lone \r (a progress bar drawn over
/// itself); removes ANSI escape sequences and applies \b. A row of \b that goes back to the line's
/// beginning is a bar drawn over itself, too. A half line is kept until its end comes. Lines that
/// end in \r or \b and hold nothing are left out.
class LineSplitter {
 public:
  explicit LineSplitter(LineSink sink);
  void feed(std::string_view bytes, double time, bool is_stderr);
  /// The same as feed() of `line` and a newline; `line` holds none.
  void feed_line(std::string_view line, double time, bool is_stderr);
  /// Emits what is left without a line end.
  void finish();
  /// Forgets a half line.
  void reset();
  /// True while a half line is kept.
  [[nodiscard]] bool has_pending() const { return !pending_.empty() || cut_; }
  [[nodiscard]] const FramingStats& stats() const { return stats_; }

 private:
  void append(std::string_view bytes);
  void feed_returns(std::string_view bytes);
  std::size_t feed_returns_until_last(std::string_view bytes);
  void end_line(std::string_view last, bool redrawn);
  void clean(std::string_view raw, bool redrawn);
  void emit(std::string_view text, bool redrawn);
  LineSink sink_;
  std::string pending_;
  std::string cleaned_;
  double time_ = 0;
  bool is_stderr_ = false;
  bool cut_ = false;           ///< pending_ has lost its middle
  bool after_return_ = false;  ///< the last byte was \r: a \n now belongs to it
  FramingStats stats_;
};

/// Decodes Docker's json-file format ({"log":"…\n","stream":"stdout","time":"…"} one record a
/// line), puts together lines that Docker split at 16 KiB, keeps stdout and stderr apart.
/// feed() takes any cut of the file's bytes; a half record is kept until the rest comes.
class JsonFileDecoder : public Decoder {
 public:
  explicit JsonFileDecoder(LineSink sink);
  void feed(std::string_view bytes) override;
  void finish() override;
  /// From now on records that hold none of `words` may be left out before they are decoded, where
  /// they are whole lines. The words must be letters, digits and underscores, which JSON and
  /// Docker leave as they are. Empty: all records are decoded.
  void need_one_of(std::vector<std::string> words);
  void reset() override;
  [[nodiscard]] std::uint64_t pending_bytes() const override;
  [[nodiscard]] FramingStats stats() const override;

 private:
  struct Need {
    std::string word;
    const char* next = nullptr;  ///< its next occurrence in the bytes being fed, or their end
  };
  void decode_record(std::string_view record);
  [[nodiscard]] double time_of(std::string_view text);
  void start_needs(std::string_view bytes);
  [[nodiscard]] bool is_needed(const char* begin, const char* end, const char* bytes_end);
  LineSplitter out_;
  LineSplitter err_;
  std::string pending_;
  std::string text_;
  std::string second_text_;  ///< the last time read, to the second
  double second_ = 0;
  std::vector<Need> needs_;
  std::size_t skipped_bytes_ = 0;  ///< of a record too long to keep; 0 = none
  std::uint64_t bad_records_ = 0;
};

/// The lines of a file that the job writes itself. Whatever looks like a record of another format
/// is text here. Times are those that set_times() says, spread over the bytes.
class TextDecoder : public Decoder {
 public:
  explicit TextDecoder(LineSink sink);
  void feed(std::string_view bytes) override;
  void finish() override;
  void reset() override;
  /// A half line is a line: who begins another file does not go on with the old one's.
  void end_of_file() override { finish(); }
  [[nodiscard]] std::uint64_t pending_bytes() const override { return 0; }
  [[nodiscard]] FramingStats stats() const override { return lines_.stats(); }
  void set_times(double first, double last) override;

 private:
  LineSplitter lines_;
  double first_time_ = 0;
  double last_time_ = 0;
};

/// True if `head` (the first bytes of a file) looks like Docker's json-file format.
[[nodiscard]] bool looks_like_json_file(std::string_view head);

}  // namespace flowcon::ctrl::logs
