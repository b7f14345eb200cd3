// SPDX-License-Identifier: Apache-2.0
// Starts other programs: no shell, no inherited file, no inherited signal mask.
#pragma once

#include <sys/types.h>

#include <array>
#include <string>
#include <vector>

#include "base/result.h"

namespace flowcon::ctrl {

/// What a child may do.
enum class Rights {
  ours,
  none,  ///< no capability, now or by what it runs; as root it is still the owner of root's files
};

/// Starts `argv`; the first is looked for on the PATH. `files` become its stdin, stdout and stderr,
/// -1 is /dev/null. `environment` is all of its environment; none = this process's. In a process
/// group of its own ^C at a terminal does not reach it, nor does the terminal's input.
/// Errors: it cannot be started; its rights cannot be given up.
[[nodiscard]] Result<pid_t> launch(const std::vector<std::string>& argv,
                                   const std::array<int, 3>& files,
                                   std::vector<std::string> environment = {},
                                   Rights rights = Rights::ours, bool has_own_group = true);

}  // namespace flowcon::ctrl
