// SPDX-License-Identifier: Apache-2.0
// Reads and writes whole files.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"

namespace flowcon::plugin {

/// Errors: it cannot be read; it is longer than `most_bytes`.
[[nodiscard]] Result<std::string> read_file(const std::string& path, std::size_t most_bytes);

/// Writes beside the file and renames, so that a full disk does not destroy the older one. What is
/// there, a link too, is replaced. `mode`: of the file from its beginning.
[[nodiscard]] Result<void> replace_file(const std::string& path, const std::string& text,
                                        mode_t mode);

/// The same for a file that a user names: it keeps the mode of an older one of this user, else has
/// that of the umask. Writes through a link, and directly to a file that is not regular.
[[nodiscard]] Result<void> write_file(const std::string& path, const std::string& text);

/// Is it what stdout goes to, as /dev/stdout is? Then a write of its own would go over the rest.
[[nodiscard]] bool is_stdout(const std::string& path);

}  // namespace flowcon::plugin
