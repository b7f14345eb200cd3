// SPDX-License-Identifier: Apache-2.0
// Whether flowcond watches the engine that docker talks to. It connects to no engine.
#pragma once

#include <string>

#include "cmd/docker-flowcon/command.h"

namespace flowcon::plugin {

/// Why flowcond hears nothing of the engine that docker talks to; "" = it does, as far as is known.
/// `consequence` goes into the sentence: "it does not start this job". The same engine behind a
/// proxy's socket counts as another one.
[[nodiscard]] std::string other_engine_text(const Session& session, const DaemonClient& daemon,
                                            const std::string& consequence);

/// Says it on stderr, if so.
void warn_of_other_engine(const Session& session, const DaemonClient& daemon,
                          const std::string& consequence);

}  // namespace flowcon::plugin
