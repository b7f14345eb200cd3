// SPDX-License-Identifier: Apache-2.0
// Reads and writes whole files.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"

namespace flowcon::plugin {

/// Errors: it cannot be read; it is longer than `most_bytes`.
[[nodiscard]] Result<std::string> read_file(const std::string& path, std::size_t most_bytes);

/// Writes beside the file and renames, so that a full disk does not destroy the older one; writes
/// through a link, and directly to a file that is not regular. `mode`: of the file, else that of
/// the older one, else as the umask has it.
[[nodiscard]] Result<void> write_file(const std::string& path, const std::string& text,
                                      std::optional<mode_t> mode = std::nullopt);

}  // namespace flowcon::plugin
