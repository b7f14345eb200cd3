// SPDX-License-Identifier: Apache-2.0
// Raw output to lines: line ends, terminal codes, bounded memory.
#include "ctrl/logs/framing.h"

#include <cstring>
#include <utility>

namespace flowcon::ctrl::logs {
namespace {

constexpr char kEscape = '\x1b';

bool is_plain(std::string_view text) {
  return std::memchr(text.data(), kEscape, text.size()) == nullptr &&
         std::memchr(text.data(), '\b', text.size()) == nullptr;
}

/// What an escape sequence does to a line.
struct Escape {
  std::size_t end = 0;         ///< position after the sequence
  bool to_line_start = false;  ///< the cursor goes back to the first column
};

/// A CSI sequence (ESC [ parameters final), an OSC string (ESC ] … BEL or ESC \) or a short one.
Escape skip_escape(std::string_view text, std::size_t at) {
  std::size_t i = at + 1;
  if (i >= text.size()) return {text.size(), false};
  if (text[i] == '[') {
    const std::size_t parameters = ++i;
    while (i < text.size() && (text[i] < '@' || text[i] > '~')) {
      if (static_cast<unsigned char>(text[i]) < ' ') return {i, false};
      ++i;
    }
    if (i >= text.size()) return {text.size(), false};
    const std::string_view argument = text.substr(parameters, i - parameters);
    const bool start = text[i] == 'G' && (argument.empty() || argument == "0" || argument == "1");
    return {i + 1, start};
  }
  if (text[i] == ']') {
    while (i < text.size() && text[i] != '\a' && text[i] != kEscape) ++i;
    if (i < text.size() && text[i] == kEscape) ++i;
    return {i < text.size() ? i + 1 : i, false};
  }
  if (text[i] == '(' || text[i] == ')' || text[i] == '#')
    return {i + 2 < text.size() ? i + 2 : text.size(), false};
  return {i + 1, false};
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::size_t next_character(const std::string& text, std::size_t at) {
  if (at >= text.size()) return at;
  ++at;
  while (at < text.size() && is_continuation(text[at])) ++at;
  return at;
}

std::size_t previous_character(const std::string& text, std::size_t at) {
  if (at == 0) return 0;
  --at;
  while (at > 0 && is_continuation(text[at])) --at;
  return at;
}

}  // namespace

LineSplitter::LineSplitter(LineSink sink) : sink_(std::move(sink)) {}

void LineSplitter::feed(std::string_view bytes, double time, bool is_stderr) {
  time_ = time;
  is_stderr_ = is_stderr;
  if (after_return_ && !bytes.empty()) {
    after_return_ = false;
    if (bytes.front() == '\n') bytes.remove_prefix(1);
  }
  while (!bytes.empty()) {
    const void* newline = std::memchr(bytes.data(), '\n', bytes.size());
    if (!newline) {
      feed_returns(bytes);
      return;
    }
    const auto end = static_cast<std::size_t>(static_cast<const char*>(newline) - bytes.data());
    feed_line(bytes.substr(0, end), time, is_stderr);
    bytes.remove_prefix(end + 1);
  }
}

void LineSplitter::feed_line(std::string_view line, double time, bool is_stderr) {
  time_ = time;
  is_stderr_ = is_stderr;
  if (after_return_) {
    after_return_ = false;
    if (line.empty()) return;
  }
  ++stats_.newlines;
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (std::memchr(line.data(), '\r', line.size())) {
    line = line.substr(feed_returns_until_last(line));
  }
  end_line(line, false);
}

std::size_t LineSplitter::feed_returns_until_last(std::string_view bytes) {
  std::size_t from = 0;
  while (const void* found = std::memchr(bytes.data() + from, '\r', bytes.size() - from)) {
    const auto at = static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data());
    end_line(bytes.substr(from, at - from), true);
    from = at + 1;
  }
  return from;
}

void LineSplitter::feed_returns(std::string_view bytes) {
  const std::size_t from = feed_returns_until_last(bytes);
  append(bytes.substr(from));
  after_return_ = from == bytes.size() && from > 0;
}

void LineSplitter::finish() {
  if (has_pending()) end_line({}, true);
  after_return_ = false;
}

void LineSplitter::reset() {
  pending_.clear();
  cut_ = false;
  after_return_ = false;
}

void LineSplitter::append(std::string_view bytes) {
  constexpr std::size_t half = kMaxLineBytes / 2;
  if (pending_.size() + bytes.size() <= kMaxLineBytes && !cut_) {
    pending_.append(bytes);
    return;
  }
  if (pending_.size() < half) {
    const std::size_t fill = half - pending_.size();
    pending_.append(bytes.substr(0, fill));
    bytes.remove_prefix(fill);
  }
  cut_ = true;
  if (bytes.size() >= half) {
    pending_.resize(half);
    pending_.append(bytes.substr(bytes.size() - half));
    return;
  }
  pending_.append(bytes);
  // Moved down only when it has doubled, so that the cost stays linear.
  if (pending_.size() > half + kMaxLineBytes) pending_.erase(half, pending_.size() - kMaxLineBytes);
}

void LineSplitter::end_line(std::string_view last, bool redrawn) {
  if (!has_pending() && last.size() <= kMaxLineBytes) {
    clean(last, redrawn);
    return;
  }
  append(last);
  if (cut_) {
    ++stats_.cut_lines;
    if (pending_.size() > kMaxLineBytes) {
      pending_.erase(kMaxLineBytes / 2, pending_.size() - kMaxLineBytes);
    }
  }
  clean(pending_, redrawn);
  pending_.clear();
  cut_ = false;
}

void LineSplitter::clean(std::string_view raw, bool redrawn) {
  if (is_plain(raw)) {
    emit(raw, redrawn);
    return;
  }
  cleaned_.clear();
  std::size_t cursor = 0;
  bool went_back = false;
  for (std::size_t i = 0; i < raw.size();) {
    if (raw[i] == kEscape) {
      const Escape escape = skip_escape(raw, i);
      i = escape.end;
      if (escape.to_line_start) {
        cursor = 0;
        went_back = true;
      }
      continue;
    }
    if (raw[i] == '\b') {
      cursor = previous_character(cleaned_, cursor);
      went_back = true;
      ++i;
      continue;
    }
    if (went_back && cursor == 0 && !cleaned_.empty()) {
      emit(cleaned_, true);
      cleaned_.clear();
    }
    went_back = false;
    if (cursor == cleaned_.size()) {
      cleaned_.push_back(raw[i++]);
      cursor = cleaned_.size();
      continue;
    }
    std::size_t width = 1;
    while (i + width < raw.size() && is_continuation(raw[i + width])) ++width;
    const std::size_t old = next_character(cleaned_, cursor) - cursor;
    // A character of another width drops the old rest instead of moving it: the cost stays linear.
    if (old == width) {
      cleaned_.replace(cursor, old, raw.substr(i, width));
    } else {
      cleaned_.resize(cursor);
      cleaned_.append(raw.substr(i, width));
    }
    cursor += width;
    i += width;
  }
  emit(cleaned_, redrawn);
}

void LineSplitter::emit(std::string_view text, bool redrawn) {
  if (redrawn && text.empty()) return;
  ++stats_.lines;
  sink_(Line{text, time_, is_stderr_});
}

}  // namespace flowcon::ctrl::logs
