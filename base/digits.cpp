// SPDX-License-Identifier: Apache-2.0
#include "base/digits.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace flowcon {

std::string two_digits(double number) {
  if (!std::isfinite(number)) return "?";
  if (number != 0 && std::fabs(number) < 0.001) return "<0.001";
  std::array<char, 400> out{};
  std::snprintf(out.data(), out.size(), "%.1e", number);
  const double rounded = std::strtod(out.data(), nullptr);  // 9.96 has become 10
  const int after_point =
      rounded == 0 ? 0 : 1 - static_cast<int>(std::floor(std::log10(std::fabs(rounded)) + 1e-9));
  std::snprintf(out.data(), out.size(), "%.*f", after_point > 0 ? after_point : 0, number);
  std::string text = out.data();
  // 5.0 says no more than 5.
  if (after_point > 0 && text.ends_with('0')) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
  }
  return text;
}

std::string share_text(double share) { return two_digits(share * 100) + " %"; }

}  // namespace flowcon
