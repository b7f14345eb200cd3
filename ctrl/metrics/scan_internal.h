// SPDX-License-Identifier: Apache-2.0
// Character classes of the line scanner.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/text.h"

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

/// "tensor" and others that print a number as "tensor(0.7)".
[[nodiscard]] bool is_wrapper(std::string_view word);

/// True where `word` (lower case) is a unit of time, size or speed, or a filler that some loggers
/// print after a value ("None").
[[nodiscard]] bool is_unit_word(std::string_view word);

}  // namespace flowcon::ctrl::metrics
