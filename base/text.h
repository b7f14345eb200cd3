// SPDX-License-Identifier: Apache-2.0
// Text from outside (labels, log lines, peers) made safe to show.
#pragma once

#include <string>
#include <string_view>

namespace flowcon {

/// `text` with control characters, ANSI introducers, marks of text direction and invalid UTF-8
/// replaced by U+FFFD, cut to `max_bytes` (an ellipsis, counted in, ends it where something was
/// cut). Safe for a terminal and for JSON.
[[nodiscard]] std::string printable(std::string_view text, std::size_t max_bytes = 200);

/// `text` with every invalid UTF-8 sequence replaced by U+FFFD, control characters kept.
[[nodiscard]] std::string valid_utf8(std::string_view text);

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
