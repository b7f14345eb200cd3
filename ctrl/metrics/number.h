// SPDX-License-Identifier: Apache-2.0
// Numbers as training logs print them: nan, -inf, 1e999, 6.7E+00, 0.9f0, 1,234.56, 97.5%.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace flowcon::ctrl::metrics {

struct Number {
  double value = 0;
  std::size_t end = 0;   ///< position after it
  bool integer = false;  ///< printed without point, exponent and name
  bool percent = false;  ///< a % follows; it is inside `end`, the value is as printed
};

/// The number that begins at `at`, with its sign. A value beyond the range of a double is infinite
/// or zero with its sign. Thousands separators count only where nothing else can be meant:
/// groups of three after the first, then a decimal point.
[[nodiscard]] std::optional<Number> number_at(std::string_view text, std::size_t at);

/// A count that is printed short or in groups: "12.9k", "1.5M", "57,350", "57_350", "57'350";
/// nothing where it is a plain number. Only to be taken as the part of a ratio: elsewhere it may be
/// two numbers or a unit.
[[nodiscard]] std::optional<Number> scaled_at(std::string_view text, std::size_t at);

/// A count in groups that blanks part: "57 350". May as well be two numbers.
[[nodiscard]] std::optional<Number> spaced_count_at(std::string_view text, std::size_t at);

/// nan, inf, infinity in any case, with a sign, and the forms of the Microsoft runtime (1.#INF).
[[nodiscard]] std::optional<Number> non_finite_at(std::string_view text, std::size_t at);

/// All of `text`, blanks around it ignored, is one number.
[[nodiscard]] std::optional<Number> whole_number(std::string_view text);

}  // namespace flowcon::ctrl::metrics
