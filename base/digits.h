// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them, and as they write them.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace flowcon {

/// A number with two significant digits, all of those before the point, and no exponent: "0.12",
/// "5.3", "27", "115". Below 0.001 "<0.001"; without a finite number "?".
[[nodiscard]] std::string two_digits(double number);
/// A share, 0.25, as "25 %".
[[nodiscard]] std::string share_text(double share);

/// The whole of `text` as a number; empty where it is none or does not fit. Blanks and a sign + are
/// of no number; nan and inf are numbers.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace flowcon
