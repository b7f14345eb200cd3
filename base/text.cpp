// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <numeric>

namespace flowcon {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";     // U+2026
constexpr std::size_t kMaxWord = 256;

struct Decoded {
  std::size_t length = 1;  // bytes taken
  bool valid = false;
  std::uint32_t point = 0;
};

// The character at the start of `text`, which is not empty. Of an invalid sequence the longest
// beginning that could have become a character is taken, as Unicode recommends, so that every
// program puts the same number of U+FFFD in its place.
Decoded decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, true, lead};
  if (lead < 0xC2 || lead > 0xF4) return {};
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte's range shuts out overlong forms, surrogates and values above U+10FFFF.
  const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  std::uint32_t point = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (i == text.size() || byte(i) < (i == 1 ? low : 0x80) || byte(i) > (i == 1 ? high : 0xBF)) {
      return {i, false, 0};
    }
    point = point << 6 | (byte(i) & 0x3FU);
  }
  return {length, true, point};
}

// C0, DEL and C1 drive a terminal; line and paragraph separators and the marks of text direction
// change the order in which the rest of the line is read.
bool is_unsafe(std::uint32_t point) {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x061C || point == 0x200E ||
         point == 0x200F || (point >= 0x2028 && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069);
}

}  // namespace

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = upper(c);
  return out;
}

std::optional<bool> truth_of(std::string_view text) {
  const std::string word = lower(text);
  if (word == "true" || word == "yes" || word == "on" || word == "1") return true;
  if (word == "false" || word == "no" || word == "off" || word == "0") return false;
  return std::nullopt;
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string out;
  std::size_t room_for_ellipsis = 0;  // the length of `out` up to which an ellipsis still fits
  while (!text.empty()) {
    const Decoded next = decode(text);
    const bool keep = next.valid && !is_unsafe(next.point);
    const std::string_view piece = keep ? text.substr(0, next.length) : kReplacement;
    if (out.size() + piece.size() > max_bytes) {
      out.resize(room_for_ellipsis);
      if (max_bytes >= kEllipsis.size()) out += kEllipsis;
      return out;
    }
    out += piece;
    if (out.size() + kEllipsis.size() <= max_bytes) room_for_ellipsis = out.size();
    text.remove_prefix(next.length);
  }
  return out;
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Decoded next = decode(text);
    out += next.valid ? text.substr(0, next.length) : kReplacement;
    text.remove_prefix(next.length);
  }
  return out;
}

std::vector<std::string_view> parts_of(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find_first_of(separators, start), text.size());
    if (end > start) parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(separator, start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    char hex[4];
    std::snprintf(hex, sizeof hex, "%%%02X", static_cast<unsigned char>(c));
    const bool is_plain = is_alnum(c) || c == '-' || c == '_' || c == '.';
    out += is_plain ? std::string(1, c) : std::string(hex);
  }
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  if (a.size() > kMaxWord || b.size() > kMaxWord) {
    return a == b ? 0 : std::max(a.size(), b.size());
  }
  // One row of the table at a time; `diagonal` is the entry above and to the left.
  std::array<std::size_t, kMaxWord + 1> row;
  std::iota(row.begin(), row.begin() + b.size() + 1, std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

}  // namespace flowcon
