// SPDX-License-Identifier: Apache-2.0
// The command line of flowcon-sim.
#pragma once

#include <string>

#include "base/result.h"
#include "cmd/flowcon-sim/decide.h"

namespace flowcon::sim {

/// The request of the arguments: a text to show, or a decision.
struct Invocation {
  std::string text;                      ///< help or version; empty: decide
  const Algorithm* algorithm = nullptr;  ///< set where text is empty
  bool lines = false;                    ///< one state a line
  int cbc_seconds = 0;                   ///< of `allocate`; 0: without CBC
};

/// Errors: wrong usage; the sentence holds the problem, the usage and where help is.
[[nodiscard]] Result<Invocation> parse_command_line(int argc, const char* const* argv);

}  // namespace flowcon::sim
