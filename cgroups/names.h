// SPDX-License-Identifier: Apache-2.0
// Which names may become part of a path below a cgroup mount. Everything that reaches the kernel
// passes here first: libcgroup itself follows ".." out of the hierarchy. Pure.
#pragma once

#include <string_view>

#include "base/result.h"

namespace flowcon::cgroups {

/// A path below a mount point: components of 1 to 255 printable ASCII bytes without blanks and
/// quotes, none of them "." or "..", no slash at either end, 1023 bytes at most; "" is the root.
/// Errors: EINVAL, with a sentence that says what is wrong.
[[nodiscard]] Result<void> check_group(std::string_view group);

/// A control file or controller: lower-case letters, digits, "_" and single inner dots.
/// Errors: EINVAL.
[[nodiscard]] Result<void> check_file(std::string_view file);

/// One line of 1 to 99 printable bytes: libcgroup cuts longer values and reports success.
/// Errors: EINVAL.
[[nodiscard]] Result<void> check_text(std::string_view text);

}  // namespace flowcon::cgroups
