// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace flowcon {

/// 128 random bits of the kernel's as 32 lower-case hexadecimal digits.
[[nodiscard]] std::string random_id();

}  // namespace flowcon
