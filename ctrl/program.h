// SPDX-License-Identifier: Apache-2.0
// Another program, run beside the loop: words and text in, its status out. No shell. What it prints
// is thrown away.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ctrl/async.h"

namespace flowcon::ctrl {

/// Runs `words`, the first looked for on the PATH, with `input` on stdin, in a process group of its
/// own, without our open files. After `seconds` all of the group is killed. Returns the status as a
/// shell has it, 128 + n where signal n ended it. Errors: it cannot be started.
[[nodiscard]] Async<Result<int>> run_program(boost::asio::io_context* io,
                                             std::vector<std::string> words, std::string input,
                                             double seconds);

}  // namespace flowcon::ctrl
