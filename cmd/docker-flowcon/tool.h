// SPDX-License-Identifier: Apache-2.0
// Another program as a function: words and text in, text and status out. No shell.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace flowcon::plugin {

/// What a program came to.
struct ToolResult {
  int status = 0;   ///< as a shell has it: 128 + n where a signal ended it
  std::string out;  ///< at most 1 MiB
  std::string err;  ///< "" where it went to our own stderr
};

enum class ToolErrors { keep, pass_on };

/// Runs `words`, the first looked for on the PATH, with `input` (at most 64 KiB) on stdin. Waits
/// for its end. Errors: it cannot be started (says which package has it).
[[nodiscard]] Result<ToolResult> run_tool(const std::vector<std::string>& words,
                                          const std::string& input = "",
                                          ToolErrors errors = ToolErrors::keep);

}  // namespace flowcon::plugin
