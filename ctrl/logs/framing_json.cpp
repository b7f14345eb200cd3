// SPDX-License-Identifier: Apache-2.0
// Docker's json-file records. A scanner of its own: a general JSON parser would cost more than all
// the rest of reading a log, and would refuse the records of a log that is not quite UTF-8.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "ctrl/logs/framing.h"

namespace flowcon::ctrl::logs {
namespace {

constexpr std::string_view kLogMember = "{\"log\":\"";

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The four hex digits at `at`, or -1.
int hex_unit(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return -1;
  int unit = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    const int digit = hex_digit(text[i]);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out.push_back(static_cast<char>(0xC0 | (code >> 6)));
    out.push_back(static_cast<char>(0x80 | (code & 0x3F)));
  } else if (code < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | (code >> 12)));
    out.push_back(static_cast<char>(0x80 | ((code >> 6) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (code & 0x3F)));
  } else {
    out.push_back(static_cast<char>(0xF0 | (code >> 18)));
    out.push_back(static_cast<char>(0x80 | ((code >> 12) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | ((code >> 6) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (code & 0x3F)));
  }
}

constexpr std::uint32_t kReplacement = 0xFFFD;

/// Appends what \uXXXX at `at` (the backslash) means, surrogate pairs joined; returns the position
/// after it, or npos where it is no escape.
std::size_t append_unicode_escape(std::string_view text, std::size_t at, std::string& out) {
  const int high = hex_unit(text, at + 2);
  if (high < 0) return std::string_view::npos;
  const bool is_high = high >= 0xD800 && high < 0xDC00;
  if (is_high && text.substr(at + 6, 2) == "\\u") {
    const int low = hex_unit(text, at + 8);
    if (low >= 0xDC00 && low < 0xE000) {
      append_utf8(out, 0x10000U + (static_cast<std::uint32_t>(high - 0xD800) << 10) +
                           static_cast<std::uint32_t>(low - 0xDC00));
      return at + 12;
    }
  }
  append_utf8(out,
              high >= 0xD800 && high < 0xE000 ? kReplacement : static_cast<std::uint32_t>(high));
  return at + 6;
}

char simple_escape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case '"':
    case '\\':
    case '/':
      return c;
    default:
      return '\0';
  }
}

/// Decodes the JSON string whose first byte after the quote is at `at` into `out`. Returns the
/// position after the closing quote, npos where there is none or an escape is wrong.
std::size_t decode_string(std::string_view text, std::size_t at, std::string& out) {
  out.clear();
  while (at < text.size()) {
    std::size_t run = at;
    while (run < text.size() && text[run] != '"' && text[run] != '\\') ++run;
    out.append(text, at, run - at);
    at = run;
    if (at >= text.size()) break;
    if (text[at] == '"') return at + 1;
    if (at + 1 >= text.size()) break;
    if (text[at + 1] == 'u') {
      at = append_unicode_escape(text, at, out);
      if (at == std::string_view::npos) return at;
      continue;
    }
    const char c = simple_escape(text[at + 1]);
    if (c == '\0') break;
    out.push_back(c);
    at += 2;
  }
  return std::string_view::npos;
}

bool read_digits(std::string_view text, std::size_t at, std::size_t count, int& out) {
  if (at + count > text.size()) return false;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + count, out);
  return error == std::errc() && end == text.data() + at + count;
}

/// Days since 1970-01-01 in the Gregorian calendar (H. Hinnant, "chrono-compatible date
/// algorithms").
std::int64_t days_from_civil(int year, int month, int day) {
  year -= month <= 2;
  const int era = (year >= 0 ? year : year - 399) / 400;
  const int year_of_era = year - era * 400;
  const int day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return static_cast<std::int64_t>(era) * 146097 + day_of_era - 719468;
}

constexpr std::size_t kSecondBytes = 19;  // 2023-07-31T03:19:13

/// Seconds since the epoch at the beginning of an RFC 3339 time, fraction and offset left out; 0
/// where it is something else.
double parse_second(std::string_view text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (!read_digits(text, 0, 4, year) || !read_digits(text, 5, 2, month) ||
      !read_digits(text, 8, 2, day) || !read_digits(text, 11, 2, hour) ||
      !read_digits(text, 14, 2, minute) || !read_digits(text, 17, 2, second)) {
    return 0;
  }
  const std::int64_t whole =
      days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
  return static_cast<double>(whole);
}

/// What follows the second: ".633573123Z", ".5+02:00". Units: seconds.
double parse_rest_of_time(std::string_view text) {
  std::size_t at = 0;
  double fraction = 0;
  if (at < text.size() && text[at] == '.') {
    double digits = 0;
    double unit = 1;
    for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
      digits = digits * 10 + (text[at] - '0');
      unit *= 10;
    }
    fraction = digits / unit;
  }
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) {
    int hours = 0, minutes = 0;
    if (read_digits(text, at + 1, 2, hours) && read_digits(text, at + 4, 2, minutes)) {
      fraction += (text[at] == '+' ? -1 : 1) * (hours * 3600 + minutes * 60);
    }
  }
  return fraction;
}

enum class WholeLine { no, on_stdout, on_stderr };

/// Looks at the record's tail only: …\n","stream":"stdout","time":"…"}.
WholeLine whole_line(std::string_view record) {
  constexpr std::string_view out = "\\n\",\"stream\":\"stdout\",\"time\":\"";
  constexpr std::string_view err = "\\n\",\"stream\":\"stderr\",\"time\":\"";
  constexpr std::size_t longest_time = 36;
  if (!record.ends_with("\"}")) return WholeLine::no;
  record.remove_suffix(2);
  std::size_t length = 0;
  while (length < longest_time && length < record.size() &&
         record[record.size() - 1 - length] != '"')
    ++length;
  record.remove_suffix(length);
  // An escaped backslash before the n would make it no line end.
  const bool is_line = record.size() > out.size() && record[record.size() - out.size() - 1] != '\\';
  if (!is_line) return WholeLine::no;
  if (record.ends_with(out)) return WholeLine::on_stdout;
  return record.ends_with(err) ? WholeLine::on_stderr : WholeLine::no;
}

/// The text of the string member `name` (with its quotes and colon) in `rest`, raw.
std::string_view raw_member(std::string_view rest, std::string_view name) {
  const std::size_t at = rest.rfind(name);
  if (at == std::string_view::npos) return {};
  const std::size_t from = at + name.size();
  const std::size_t to = rest.find('"', from);
  return to == std::string_view::npos ? std::string_view{} : rest.substr(from, to - from);
}

struct Origin {
  bool is_stderr = false;
  std::string_view time;
};

/// What stands after the text of a record; the usual order of the members goes without a search.
Origin origin_of(std::string_view rest) {
  constexpr std::string_view out = ",\"stream\":\"stdout\",\"time\":\"";
  constexpr std::string_view err = ",\"stream\":\"stderr\",\"time\":\"";
  const bool is_err = rest.starts_with(err);
  if (is_err || rest.starts_with(out)) {
    const std::size_t end = rest.find('"', out.size());
    return {is_err, rest.substr(out.size(), end == std::string_view::npos ? 0 : end - out.size())};
  }
  return {raw_member(rest, "\"stream\":\"") == "stderr", raw_member(rest, "\"time\":\"")};
}

}  // namespace

JsonFileDecoder::JsonFileDecoder(LineSink sink) : out_(sink), err_(std::move(sink)) {}

void JsonFileDecoder::need_one_of(std::vector<std::string> words) {
  needs_.clear();
  for (std::string& word : words) needs_.push_back({std::move(word), nullptr});
}

void JsonFileDecoder::start_needs(std::string_view bytes) {
  // Before the first search every word could be anywhere.
  for (Need& need : needs_) need.next = bytes.data();
}

/// The bytes are searched once for each word, not once a record.
bool JsonFileDecoder::is_needed(const char* begin, const char* end, const char* bytes_end) {
  bool needed = needs_.empty();
  for (Need& need : needs_) {
    if (need.next < begin || (need.next == begin && begin != bytes_end)) {
      const void* found = ::memmem(begin, static_cast<std::size_t>(bytes_end - begin),
                                   need.word.data(), need.word.size());
      need.next = found ? static_cast<const char*>(found) : bytes_end;
    }
    needed = needed || need.next < end;
  }
  if (needed) return true;
  // Only a record that is one whole line, and continues none, can be left out.
  const WholeLine whole =
      whole_line(std::string_view(begin, static_cast<std::size_t>(end - begin)));
  if (whole == WholeLine::no) return true;
  return (whole == WholeLine::on_stderr ? err_ : out_).has_pending();
}

void JsonFileDecoder::feed(std::string_view bytes) {
  start_needs(bytes);
  while (!bytes.empty()) {
    const void* newline = std::memchr(bytes.data(), '\n', bytes.size());
    const std::size_t end =
        newline ? static_cast<std::size_t>(static_cast<const char*>(newline) - bytes.data())
                : bytes.size();
    const bool fits = pending_.size() + end <= kMaxRecordBytes && skipped_bytes_ == 0;
    if (!fits) {
      skipped_bytes_ += pending_.size() + end;
      pending_.clear();
    } else if (!newline || !pending_.empty()) {
      pending_.append(bytes.substr(0, end));
    }
    if (!newline) return;
    if (!fits) {
      ++bad_records_;
      skipped_bytes_ = 0;
    } else if (pending_.empty()) {
      if (needs_.empty() ||
          is_needed(bytes.data(), bytes.data() + end, bytes.data() + bytes.size())) {
        decode_record(bytes.substr(0, end));
      }
    } else {
      decode_record(pending_);
      pending_.clear();
    }
    bytes.remove_prefix(end + 1);
  }
}

/// Docker's time to seconds. Neighbours mostly share their second, which is parsed once.
double JsonFileDecoder::time_of(std::string_view text) {
  if (text.size() <= kSecondBytes) return 0;
  const std::string_view second = text.substr(0, kSecondBytes);
  if (second != second_text_) {
    second_text_ = second;
    second_ = parse_second(second);
  }
  return second_ == 0 ? 0 : second_ + parse_rest_of_time(text.substr(kSecondBytes));
}

void JsonFileDecoder::decode_record(std::string_view record) {
  if (record.empty()) return;
  if (record.substr(0, kLogMember.size()) != kLogMember) {
    ++bad_records_;
    return;
  }
  // Most lines hold nothing to decode before their final \n.
  const void* found = std::memchr(record.data(), '\\', record.size());
  const auto escape = static_cast<std::size_t>(
      (found ? static_cast<const char*>(found) : record.data() + record.size()) - record.data());
  const std::string_view plain =
      record.substr(kLogMember.size(), escape - std::min(escape, kLogMember.size()));
  if (record.substr(escape, 3) == "\\n\"" &&
      std::memchr(plain.data(), '"', plain.size()) == nullptr) {
    const Origin origin = origin_of(record.substr(escape + 3));
    (origin.is_stderr ? err_ : out_).feed_line(plain, time_of(origin.time), origin.is_stderr);
    return;
  }
  const std::size_t after = decode_string(record, kLogMember.size(), text_);
  if (after == std::string_view::npos) {
    ++bad_records_;
    return;
  }
  const Origin origin = origin_of(record.substr(after));
  const bool is_stderr = origin.is_stderr;
  const double time = time_of(origin.time);
  (is_stderr ? err_ : out_).feed(text_, time, is_stderr);
}

void JsonFileDecoder::finish() {
  if (!pending_.empty()) {
    decode_record(pending_);
    pending_.clear();
  }
  out_.finish();
  err_.finish();
}

void JsonFileDecoder::reset() {
  pending_.clear();
  skipped_bytes_ = 0;
  out_.reset();
  err_.reset();
}

std::uint64_t JsonFileDecoder::pending_bytes() const { return pending_.size() + skipped_bytes_; }

FramingStats JsonFileDecoder::stats() const {
  FramingStats sum = out_.stats();
  sum.add_lines(err_.stats());
  sum.bad_records = bad_records_;
  return sum;
}

bool looks_like_json_file(std::string_view head) {
  if (head.substr(0, kLogMember.size()) != kLogMember) return false;
  const std::size_t end = head.find('\n');
  if (end == std::string_view::npos) return true;
  const std::string_view first = head.substr(0, end);
  return first.find("\"stream\":\"std") != std::string_view::npos &&
         first.find("\"time\":\"") != std::string_view::npos;
}

}  // namespace flowcon::ctrl::logs
