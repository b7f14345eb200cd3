// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/log_lines.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace flowcon::cluster::migration {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kLatest = 7'258'118'400 * kSecond;  // 2200-01-01
constexpr std::size_t kFrameHeader = 8;
// Every byte may be written as \u00xx, and the other members are short.
constexpr std::size_t kMaxLine = 6 * kMaxLogText + 256;
constexpr std::size_t kMaxTime = 40;
constexpr unsigned char kSystemError = 3;  // a frame in which the engine speaks itself
// With a terminal there are no frames; whatever the job writes has a time in front.
constexpr std::string_view kEngineSays = "Error grabbing logs: ";
// What engines pass on at once of a line that has not ended.
constexpr std::size_t kPiece = 16U << 10;

// Takes `digits` digits and then `end` off the front.
bool take(std::string_view& text, int digits, const char* ends, int& number) {
  const auto count = static_cast<std::size_t>(digits);
  if (text.size() < count) return false;
  for (std::size_t i = 0; i < count; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
  }
  std::from_chars(text.data(), text.data() + count, number);
  text.remove_prefix(count);
  if (*ends == '\0') return true;
  if (text.empty() || text.front() != *ends) return false;
  text.remove_prefix(1);
  return true;
}

// ".535332288" in nanoseconds; 0 where there is none.
std::optional<std::int64_t> take_fraction(std::string_view& text) {
  if (text.empty() || text.front() != '.') return 0;
  text.remove_prefix(1);
  std::int64_t fraction = 0;
  std::int64_t unit = kSecond;
  std::size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    unit /= 10;
    fraction += unit * (text[digits] - '0');
  }
  if (digits == 0) return {};
  text.remove_prefix(digits);
  return fraction;
}

// "Z" or "+02:00" in seconds.
std::optional<std::int64_t> take_zone(std::string_view text) {
  if (text == "Z") return 0;
  if (text.empty() || (text.front() != '+' && text.front() != '-')) return {};
  const int sign = text.front() == '-' ? -1 : 1;
  text.remove_prefix(1);
  int hours = 0, minutes = 0;
  if (!take(text, 2, ":", hours) || !take(text, 2, "", minutes) || !text.empty()) return {};
  if (hours > 23 || minutes > 59) return {};
  return sign * (hours * 3600 + minutes * 60);
}

// A time in front of a text, and its bytes with the blank behind it; 0: there is none.
struct Stamp {
  std::int64_t time_ns = 0;
  std::size_t bytes = 0;
};

Stamp stamp_of(std::string_view text) {
  const std::size_t blank = text.substr(0, kMaxTime).find(' ');
  if (blank == std::string_view::npos) return {};
  const Result<std::int64_t> time = parse_log_time(text.substr(0, blank));
  return time ? Stamp{*time, blank + 1} : Stamp{};
}

// The bytes of the first line of a terminal's log, or of the first piece of a longer one; 0: not
// all of it is there.
std::size_t line_in(std::string_view text) {
  const std::size_t most = stamp_of(text).bytes + kPiece;
  const std::size_t end = text.substr(0, most).find('\n');
  if (end != std::string_view::npos) return end + 1;
  return text.size() >= most ? most : 0;
}

}  // namespace

Result<std::int64_t> parse_log_time(std::string_view text) {
  const auto wrong = [&text] {
    return bad_input("a log has the time " + printable(text, kMaxTime));
  };
  std::string_view rest = text;
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  const bool is_time = take(rest, 4, "-", year) && take(rest, 2, "-", month) &&
                       take(rest, 2, "T", day) && take(rest, 2, ":", hour) &&
                       take(rest, 2, ":", minute) && take(rest, 2, "", second);
  if (!is_time || hour > 23 || minute > 59 || second > 60) return wrong();
  const auto fraction = take_fraction(rest);
  const auto zone = take_zone(rest);
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!fraction || !zone || !date.ok() || year < 1970 || year > 2199) return wrong();
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t seconds = days * 86400 + hour * 3600 + minute * 60 + second - *zone;
  return std::max<std::int64_t>(0, seconds * kSecond + *fraction);
}

std::string render_log_time(std::int64_t time_ns) {
  const std::int64_t days = time_ns / kSecond / 86400;
  const std::int64_t seconds = time_ns / kSecond % 86400;
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(days))};
  char text[kMaxTime];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%09dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(seconds / 3600),
                static_cast<int>(seconds / 60 % 60), static_cast<int>(seconds % 60),
                static_cast<int>(time_ns % kSecond));
  return text;
}

// --------------------------------------------------------------------------- from the engine

void LogFrames::take_text(bool is_error, std::string_view text, const LogSink& sink) {
  const Stamp stamp = stamp_of(text);
  if (stamp.bytes > 0) last_ns_ = stamp.time_ns;
  text.remove_prefix(stamp.bytes);
  if (!text.empty()) sink({last_ns_, is_error, std::string(text)});
}

void LogFrames::break_off(std::string_view said) {
  why_broken_ = "the engine says of the log: " + printable(said, 300);
}

// Of a terminal.
void LogFrames::take_line(std::string_view text, const LogSink& sink) {
  if (!why_broken_.empty()) return;
  if (text.starts_with(kEngineSays)) {
    break_off(text);
  } else {
    take_text(false, text, sink);
  }
}

Result<void> LogFrames::take_frame(unsigned char kind, std::string_view text, const LogSink& sink) {
  if (!why_broken_.empty()) return {};
  if (kind == kSystemError) {
    break_off(text);
    return {};
  }
  if (kind > kSystemError) return bad_input("the engine's log is not made of frames");
  take_text(kind == 2, text, sink);
  return {};
}

Result<void> LogFrames::feed(std::string_view bytes, const LogSink& sink) {
  pending_ += bytes;
  std::string_view rest = pending_;
  Result<void> taken;
  while (taken && !rest.empty()) {
    if (has_terminal_) {
      const std::size_t size = line_in(rest);
      if (size == 0) break;
      take_line(rest.substr(0, size), sink);
      rest.remove_prefix(size);
      continue;
    }
    if (rest.size() < kFrameHeader) break;
    std::size_t size = 0;
    for (std::size_t i = 4; i < kFrameHeader; ++i) {
      size = size << 8U | static_cast<unsigned char>(rest[i]);
    }
    if (size > kMaxLogText + kMaxTime) {
      taken = bad_input("a record of the log is too long");
    } else if (rest.size() < kFrameHeader + size) {
      break;
    } else {
      taken =
          take_frame(static_cast<unsigned char>(rest[0]), rest.substr(kFrameHeader, size), sink);
      rest.remove_prefix(kFrameHeader + size);
    }
  }
  pending_.erase(0, pending_.size() - rest.size());
  return taken;
}

Result<void> LogFrames::finish(const LogSink& sink) {
  if (pending_.empty()) return {};
  if (!has_terminal_) return bad_input("the engine's log is not whole");
  take_line(pending_, sink);
  pending_.clear();
  return {};
}

// ------------------------------------------------------------------------------ lines of JSON

std::string render_record(const LogRecord& record) {
  return "{\"log\":" + render_json(json::value(record.text)) + ",\"stream\":\"" +
         (record.is_error ? "stderr" : "stdout") + "\",\"time\":\"" +
         render_log_time(record.time_ns) + "\"}\n";
}

Result<LogRecord> parse_record(std::string_view line) {
  auto parsed = parse_json(line);
  if (!parsed || !parsed->is_object()) return bad_input("a line of the log is no JSON object");
  const json::object& members = parsed->get_object();
  const auto text_of = [&members](const char* name) -> const json::string* {
    const json::value* value = members.if_contains(name);
    return value != nullptr ? value->if_string() : nullptr;
  };
  const json::string* text = text_of("log");
  const json::string* stream = text_of("stream");
  const json::string* time = text_of("time");
  if (text == nullptr || stream == nullptr || time == nullptr || text->size() > kMaxLogText ||
      (*stream != "stdout" && *stream != "stderr")) {
    return bad_input("a line of the log is no record");
  }
  auto when = parse_log_time(std::string_view(time->data(), time->size()));
  if (!when) return when.error();
  return LogRecord{*when, *stream == "stderr", std::string(text->data(), text->size())};
}

void TornRecords::take_line(std::string_view line, const LogSink& sink) const {
  // What was written next stands behind the torn record. Within a record quotes are escaped.
  const std::size_t start = line.rfind(R"({"log":")");
  if (start == std::string_view::npos) return;
  Result<LogRecord> record = parse_record(line.substr(start));
  if (record && record->time_ns > after_ns_) sink(std::move(*record));
}

void TornRecords::feed(std::string_view bytes, const LogSink& sink) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    pending_ += bytes.substr(0, end);
    if (pending_.size() > kMaxLine) {
      is_too_long_ = true;
      pending_.clear();
    }
    if (end == std::string_view::npos) return;
    if (!std::exchange(is_too_long_, false)) take_line(pending_, sink);
    pending_.clear();
    bytes.remove_prefix(end + 1);
  }
}

std::string render_log_head(double now) {
  return render_json(json::object{{"flowcon_log", 1}, {"now", now}}) + "\n";
}

Result<void> LogLines::take_line(std::string_view line, const LogSink& sink) {
  if (shift_ns_) {
    auto record = parse_record(line);
    if (!record) return record.error();
    record->time_ns = std::clamp<std::int64_t>(record->time_ns + *shift_ns_, 0, kLatest - 1);
    ++records_;
    sink(std::move(*record));
    return {};
  }
  auto head = parse_json(line);
  const json::object* members = head ? head->if_object() : nullptr;
  const json::value* kind = members != nullptr ? members->if_contains("flowcon_log") : nullptr;
  const json::value* now = members != nullptr ? members->if_contains("now") : nullptr;
  if (kind == nullptr || !kind->is_int64() || kind->get_int64() != 1 || now == nullptr ||
      !now->is_number()) {
    return bad_input("the log does not begin with a valid header");
  }
  const double theirs = now->to_number<double>();
  if (!(theirs >= 0) || theirs * 1e9 >= static_cast<double>(kLatest)) {
    return bad_input("the log's sender says that it is another century");
  }
  const double shift = now_() - theirs;
  shift_ns_ = std::abs(shift) > kClockSlack ? static_cast<std::int64_t>(shift * 1e9) : 0;
  return {};
}

Result<void> LogLines::feed(std::string_view bytes, const LogSink& sink) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    if (pending_.size() + std::min(end, bytes.size()) > kMaxLine) {
      return bad_input("a line of the log is too long");
    }
    if (end == std::string_view::npos) {
      pending_ += bytes;
      return {};
    }
    Result<void> taken;
    if (pending_.empty()) {
      taken = take_line(bytes.substr(0, end), sink);
    } else {
      pending_ += bytes.substr(0, end);
      taken = take_line(pending_, sink);
      pending_.clear();
    }
    if (!taken) return taken;
    bytes.remove_prefix(end + 1);
  }
  return {};
}

Result<void> LogLines::finish() const {
  if (!shift_ns_ || !pending_.empty()) return bad_input("the log is not whole");
  return {};
}

}  // namespace flowcon::cluster::migration
