// SPDX-License-Identifier: Apache-2.0
// Another program as a function: words and text in, text and status out. No shell.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "ctrl/ran.h"

namespace flowcon::plugin {

/// What a program came to: its status as a shell has it, at most 64 MiB of stdout, and 1 MiB of
/// stderr where it did not go to our own.
using ToolResult = ctrl::Ran;

enum class ToolErrors { keep, pass_on };

/// Runs `words`, the first looked for on the PATH, with `input` on stdin. Waits
/// for its end. Errors: it cannot be started (of ssh it says which package has it).
[[nodiscard]] Result<ToolResult> run_tool(const std::vector<std::string>& words,
                                          const std::string& input = "",
                                          ToolErrors errors = ToolErrors::keep);

/// How many lines it prints, on stdout and stderr. Errors: it cannot be started; its status is not
/// 0.
[[nodiscard]] Result<std::size_t> count_lines(const std::vector<std::string>& words);

}  // namespace flowcon::plugin
