// SPDX-License-Identifier: Apache-2.0
// Text from outside (labels, log lines, peers) made safe to show.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flowcon {

/// Of ASCII, whatever the locale.
[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
[[nodiscard]] constexpr bool is_alnum(char c) { return is_letter(c) || is_digit(c); }
[[nodiscard]] constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
[[nodiscard]] constexpr char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}
[[nodiscard]] std::string lower(std::string_view text);
[[nodiscard]] std::string upper(std::string_view text);

/// Yes or no as people write it in a compose file: true, yes, on or 1 and their opposites, in any
/// case; empty for any other word.
[[nodiscard]] std::optional<bool> truth_of(std::string_view text);

/// `text` with control characters, ANSI introducers, marks of text direction and invalid UTF-8
/// replaced by U+FFFD, cut to `max_bytes` (an ellipsis, counted in, ends it where something was
/// cut). Safe for a terminal and for JSON.
[[nodiscard]] std::string printable(std::string_view text, std::size_t max_bytes = 200);

/// `text` with every invalid UTF-8 sequence replaced by U+FFFD, control characters kept.
[[nodiscard]] std::string valid_utf8(std::string_view text);

/// What `text_of` makes of each of `items`, `between` between them, but none before the first that
/// is not empty.
template <class Items, class TextOf = std::identity>
[[nodiscard]] std::string joined(const Items& items, std::string_view between,
                                 TextOf text_of = {}) {
  std::string out;
  for (const auto& item : items) {
    if (!out.empty()) out += between;
    out += std::invoke(text_of, item);
  }
  return out;
}

/// The parts of `text` between any of `separators`, empty ones left out. They point into `text`.
[[nodiscard]] std::vector<std::string_view> parts_of(std::string_view text,
                                                     std::string_view separators);

/// The parts of `text` between one separator and the next, empty ones as well: at least one. They
/// point into `text`.
[[nodiscard]] std::vector<std::string_view> split_at(std::string_view text, char separator);

/// For a segment of a path or a value of a query: all but letters, digits and "-_." becomes %XX.
[[nodiscard]] std::string percent_encoded(std::string_view text);

/// The entry of `words` nearest to `word` by edit distance, or empty if none is near (distance
/// above 2, or above half of its length). For "did you mean" hints.
template <class Words>
[[nodiscard]] std::string_view nearest_word(std::string_view word, const Words& words);

/// Number of single-byte edits between two words (Levenshtein). A word above 256 bytes counts as
/// wholly different from every other word, which bounds the time.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

template <class Words>
std::string_view nearest_word(std::string_view word, const Words& words) {
  std::string_view best;
  std::size_t best_distance = 3;
  for (std::string_view candidate : words) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance && distance * 2 <= candidate.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace flowcon
