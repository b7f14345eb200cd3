// SPDX-License-Identifier: Apache-2.0
// How the plugin ends early: by a signal, or with docker. Only full-screen commands have something
// to undo then; all others end at once.
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

/// From now on a signal, or the end of docker (as SIGINT), writes its number as a byte into `file`
/// instead of ending the process. -1 takes it back. Where a second one comes more than two
/// seconds after the first, nobody reads them: the terminal gets the modes back that it had, and
/// the process ends.
void pass_endings_to(int file);

}  // namespace flowcon::plugin
