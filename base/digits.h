// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them.
#pragma once

#include <string>

namespace flowcon {

/// A number with two significant digits, all of those before the point, and no exponent: "0.12",
/// "5.3", "27", "115". Below 0.001 "<0.001"; without a finite number "?".
[[nodiscard]] std::string two_digits(double number);

}  // namespace flowcon
