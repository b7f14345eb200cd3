// SPDX-License-Identifier: Apache-2.0
// Character classes of the line scanner.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "ctrl/metrics/number.h"

namespace flowcon::ctrl::metrics {

constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }
constexpr bool is_beyond_ascii(char c) { return (static_cast<unsigned char>(c) & 0x80) != 0; }

inline std::size_t skip_blanks(std::string_view line, std::size_t at) {
  while (at < line.size() && is_blank(line[at])) ++at;
  return at;
}

/// Digits and the characters of `set`.
inline std::size_t skip_any(std::string_view line, std::size_t at, std::string_view set) {
  while (at < line.size() && (is_digit(line[at]) || set.find(line[at]) != std::string_view::npos))
    ++at;
  return at;
}

/// Position of the second number of "a/b", "a / b", "a of b" (in other languages too) after the
/// first one that ends at `at`; npos where there is none.
[[nodiscard]] std::size_t second_of_ratio(std::string_view line, std::size_t at, bool& spaced);

/// The first number of "5 735 / 100 000", where the second one has groups, too: "Epoch 3 120 / 391"
/// is another thing.
[[nodiscard]] std::optional<Number> spaced_done_at(std::string_view line, std::size_t at);

/// "Iteration 5 (max 30)": position of the 30 behind the number that ends at `at`; npos where there
/// is none.
[[nodiscard]] std::size_t limit_in_parentheses(std::string_view line, std::size_t at);

/// "e0 batch 100/391", "E00 [100/391]": bytes of the letter or two before the epoch's number, where
/// a ratio stands behind it; 0 = it is no epoch. `word` begins at `at`.
[[nodiscard]] std::size_t short_epoch(std::string_view line, std::size_t at, std::string_view word);

/// "tensor" and others that print a number as "tensor(0.7)".
[[nodiscard]] bool is_wrapper(std::string_view word);

/// True where `word` (lower case) is a unit of time, size or speed, or a filler that some loggers
/// print after a value ("None").
[[nodiscard]] bool is_unit_word(std::string_view word);

}  // namespace flowcon::ctrl::metrics
