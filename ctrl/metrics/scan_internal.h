// SPDX-License-Identifier: Apache-2.0
// Character classes of the line scanner.
#pragma once

#include <string_view>

namespace flowcon::ctrl::metrics {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }
constexpr bool is_beyond_ascii(char c) { return (static_cast<unsigned char>(c) & 0x80) != 0; }

/// "tensor" and others that print a number as "tensor(0.7)".
[[nodiscard]] bool is_wrapper(std::string_view word);

/// True where `word` (lower case) is a unit of time, size or speed, or a filler that some loggers
/// print after a value ("None").
[[nodiscard]] bool is_unit_word(std::string_view word);

}  // namespace flowcon::ctrl::metrics
