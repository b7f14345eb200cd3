// SPDX-License-Identifier: Apache-2.0
// Small files as a whole.
#pragma once

#include <string>

namespace flowcon {

/// The bytes of a file; "" where it cannot be read.
[[nodiscard]] std::string file_text(const std::string& path);

}  // namespace flowcon
