// SPDX-License-Identifier: Apache-2.0
// How the plugin ends before its work is done: by a signal, or with docker. Nothing in the plugin
// needs undoing then, so it ends at once.
#pragma once

#include "cmd/docker-flowcon/plugin.h"

namespace flowcon::plugin {

/// From now on SIGINT (behind which a new line begins where stdout `is_interactive`), SIGTERM,
/// SIGHUP and SIGPIPE end the process with 128 + their number (docker would make 255 of a death by
/// signal). One that is ignored stays so, as nohup wants it.
void end_on_signals(bool is_interactive);

/// Connects to the socket that docker names in DOCKER_CLI_PLUGIN_SOCKET. When docker closes it (on
/// its first SIGINT or SIGTERM where stdout is no terminal, or because it died) the process ends
/// with 130. Without the variable, from an older docker, nothing happens.
void end_with_docker(const Environment& environment);

}  // namespace flowcon::plugin
