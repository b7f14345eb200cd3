// SPDX-License-Identifier: Apache-2.0
// Prefixes are taken off one after the other, in whatever order they come.
#include "ctrl/metrics/prefix.h"

#include <algorithm>

#include "ctrl/metrics/scan_internal.h"

namespace flowcon::ctrl::metrics {
namespace {

constexpr int kMaxPrefixes = 10;
constexpr std::size_t kMaxPrefixBytes = 120;

/// "12:30" or "2023-07-31" somewhere inside.
bool has_time(std::string_view text) {
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    const bool mark = text[i] == ':' || text[i] == '-' || text[i] == '/';
    if (!mark || !is_digit(text[i - 1]) || !is_digit(text[i + 1])) continue;
    const std::size_t second = text.find(text[i], i + 1);
    const bool two_digits = i + 2 < text.size() && is_digit(text[i + 2]);
    if (two_digits && second != std::string_view::npos && second <= i + 3) return true;
  }
  return false;
}

bool is_one_of(std::string_view word, std::string_view words) {
  while (!words.empty()) {
    const std::size_t blank = words.find(' ');
    if (words.substr(0, blank) == word) return true;
    words = blank == std::string_view::npos ? std::string_view{} : words.substr(blank + 1);
  }
  return false;
}

bool is_level(std::string_view word) {
  return is_one_of(word,
                   "INFO WARNING WARN ERROR DEBUG CRITICAL NOTICE FATAL TRACE info warning "
                   "warn error debug LOG DLL");
}

bool is_source_place(std::string_view text) {
  return text.find(".py:") != std::string_view::npos ||
         text.find(".cc:") != std::string_view::npos ||
         text.find(".cpp:") != std::string_view::npos ||
         text.find(".go:") != std::string_view::npos;
}

/// "[2023-04-18 01:46:52,554]", "[INFO]", "[timer.py:199:stop]", "[rank0]:", "[1,0]<stdout>:".
std::size_t bracket_prefix(std::string_view line, std::size_t at) {
  const std::size_t close = line.substr(0, at + kMaxPrefixBytes).find(']', at);
  if (close == std::string_view::npos) return at;
  const std::string_view inside = line.substr(at + 1, close - at - 1);
  for (std::string_view stream : {"<stdout>:", "<stderr>:"}) {
    if (line.substr(close + 1, stream.size()) == stream) return close + 1 + stream.size();
  }
  const std::size_t colon = inside.find(':');
  const bool is_rank =
      inside.starts_with("rank") || inside.starts_with("Rank ") || inside.starts_with("default");
  const bool leveled =
      is_level(inside) || is_level(inside.substr(0, colon)) || inside == "deepspeed";
  if (!is_rank && !leveled && !has_time(inside) && !is_source_place(inside)) return at;
  std::size_t end = close + 1;
  if (end < line.size() && line[end] == ':') ++end;
  return end;
}

/// A word of digits and the marks of dates and times.
std::size_t time_prefix(std::string_view line, std::size_t at) {
  std::size_t end = at;
  while (end < line.size() &&
         (is_digit(line[end]) ||
          std::string_view("-/:.,TZ+").find(line[end]) != std::string_view::npos)) {
    ++end;
  }
  const std::string_view word = line.substr(at, end - at);
  const bool closed =
      end == line.size() || is_blank(line[end]) || line[end] == '[' || line[end] == ']';
  return closed && word.size() >= 5 && has_time(word) ? end : at;
}

/// "Thu Feb 25 12:11:03 2021".
std::size_t ctime_prefix(std::string_view line, std::size_t at) {
  constexpr std::size_t size = 24;
  const std::string_view text = line.substr(at, size);
  if (text.size() < size || !is_one_of(text.substr(0, 3), "Mon Tue Wed Thu Fri Sat Sun")) return at;
  return text[13] == ':' && text[16] == ':' && is_digit(text[20]) && is_digit(text[23]) ? at + size
                                                                                        : at;
}

/// "I0305 19:13:42.060884 1400760 logging_writer.py:48] ".
std::size_t glog_prefix(std::string_view line, std::size_t at) {
  const std::string_view head = line.substr(at, kMaxPrefixBytes);
  if (head.size() < 12 || !is_one_of(head.substr(0, 1), "I W E F D")) return at;
  for (std::size_t i = 1; i < 5; ++i) {
    if (!is_digit(head[i])) return at;
  }
  if (head[5] != ' ' || head.find(':') != 8) return at;
  const std::size_t close = head.find("] ");
  return close == std::string_view::npos ? at : at + close + 1;
}

/// "ERROR 1000 0.63  2862 4543": numbers alone follow, and the word is their name.
bool names_numbers(std::string_view word, std::string_view rest) {
  if (word != "ERROR" && word != "error") return false;
  const std::size_t first = std::min(rest.find_first_of("0123456789"), rest.size());
  return rest.find(' ', first) != rest.npos &&
         rest.find_first_not_of("0123456789.eE+- \t") == rest.npos;
}

/// "INFO:root:", "INFO - ", "WARNING: ", "DLL ".
std::size_t level_prefix(std::string_view line, std::size_t at) {
  std::size_t end = at;
  while (end < line.size() && is_letter(line[end])) ++end;
  if (end == at || !is_level(line.substr(at, end - at)) || end == line.size()) return at;
  if (line[end] == ':') {
    std::size_t name = end + 1;
    while (name < line.size() && (is_letter(line[name]) || is_digit(line[name]) ||
                                  line[name] == '_' || line[name] == '.'))
      ++name;
    return name > end + 1 && name < line.size() && line[name] == ':' ? name + 1 : end + 1;
  }
  const bool is_name = names_numbers(line.substr(at, end - at), line.substr(end));
  return is_blank(line[end]) && !is_name ? end : at;
}

/// "(RayTrainWorker pid=123, ip=10.0.0.1) ", "(nnet3-train:Train():nnet-training.cc:121) ".
std::size_t worker_prefix(std::string_view line, std::size_t at) {
  const std::string_view head = line.substr(0, at + kMaxPrefixBytes);
  const std::size_t close = head.find(')', at);
  if (close == std::string_view::npos) return at;
  const std::string_view inside = line.substr(at, close - at);
  const bool is_worker = inside.find("pid=") != std::string_view::npos ||
                         inside.find("rank=") != std::string_view::npos;
  if (is_worker) return close + 1;
  const std::size_t end = head.find(") ", at);
  const bool is_place = end != std::string_view::npos && is_source_place(line.substr(at, end - at));
  return is_place ? end + 1 : at;
}

/// "trainer-1  | " of compose, "node01: " and "7: " of srun and mpirun.
std::size_t host_prefix(std::string_view line, std::size_t at) {
  std::size_t end = at;
  bool digits = false;
  bool letters = false;
  while (end < line.size() && end - at < 64 &&
         (is_letter(line[end]) || is_digit(line[end]) || line[end] == '-' || line[end] == '_' ||
          line[end] == '.')) {
    digits = digits || is_digit(line[end]);
    letters = letters || is_letter(line[end]);
    ++end;
  }
  if (end == at || end + 2 >= line.size()) return at;
  const std::size_t mark = skip_blanks(line, end);
  if (line[mark < line.size() ? mark : end] == '|' && mark > end && letters && digits) {
    const std::size_t next = skip_blanks(line, mark + 1);
    const bool is_value = next < line.size() && is_digit(line[next]);
    return is_value ? at : mark + 1;
  }
  const bool is_rank = digits && !letters && end - at <= 4;
  const bool letter_follows = line[end] == ':' && line[end + 1] == ' ' && is_letter(line[end + 2]);
  return is_rank && letter_follows ? end + 2 : at;
}

/// "#> " and "## " of R's documents, "> " of a quotation.
std::size_t quote_prefix(std::string_view line, std::size_t at) {
  const std::size_t end = std::min(line.find_first_not_of("#>", at), line.size());
  const bool is_quote = line.substr(at, end - at) != "#" && end > at;
  return is_quote && (end == line.size() || is_blank(line[end])) ? end : at;
}

/// What R's print() shows: [1] "Epoch 3, loss: 0.61". Not a text of a list, which a comma follows.
std::string_view without_quotes(std::string_view line) {
  std::size_t at = skip_blanks(line, 0);
  if (at < line.size() && line[at] == '[') {
    std::size_t end = at + 1;
    while (end < line.size() && is_digit(line[end])) ++end;
    if (end > at + 1 && end < line.size() && line[end] == ']') at = skip_blanks(line, end + 1);
  }
  const std::size_t last = line.find_last_not_of(" \t\r");
  if (last == std::string_view::npos || last <= at || line[at] != '"' || line[last] != '"') {
    return line;
  }
  const std::string_view inside = line.substr(at + 1, last - at - 1);
  return inside.find('"') == std::string_view::npos ? inside : line;
}

}  // namespace

std::string_view without_prefix(std::string_view line) {
  std::size_t at = 0;
  for (int count = 0; count < kMaxPrefixes; ++count) {
    const std::size_t from = skip_blanks(line, at);
    if (from >= line.size()) break;
    const char c = line[from];
    std::size_t end = from;
    if (c == '[') {
      end = bracket_prefix(line, from);
    } else if (c == '(') {
      end = worker_prefix(line, from);
    } else if (c == '#' || c == '>') {
      end = quote_prefix(line, from);
    } else if (is_digit(c)) {
      end = time_prefix(line, from);
      if (end == from) end = host_prefix(line, from);
    } else if (is_letter(c)) {
      end = glog_prefix(line, from);
      if (end == from) end = ctime_prefix(line, from);
      if (end == from) end = level_prefix(line, from);
      if (end == from) end = host_prefix(line, from);
    } else if ((c == '-' || c == '|' || c == ':') && at > 0 && from + 1 < line.size() &&
               is_blank(line[from + 1])) {
      end = from + 1;
    }
    if (end == from) break;
    at = end;
  }
  return without_quotes(line.substr(at));
}

void narrow(std::string_view line, std::string& out) {
  constexpr unsigned kFirst = 0xFF01, kLast = 0xFF5E, kApart = 0xFEE0;
  out.clear();
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(line[at]); };
    const bool is_wide = i + 2 < line.size() && byte(i) == 0xEF && (byte(i + 1) | 1U) == 0xBD;
    const unsigned code =
        is_wide ? 0xF000U | (byte(i + 1) & 0x3FU) << 6U | (byte(i + 2) & 0x3FU) : 0;
    const bool is_mark = code >= kFirst && code <= kLast;
    out.push_back(is_mark ? static_cast<char>(code - kApart) : line[i]);
    if (is_mark) i += 2;
  }
}

}  // namespace flowcon::ctrl::metrics
