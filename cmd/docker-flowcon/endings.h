// SPDX-License-Identifier: Apache-2.0
// How the plugin ends: early by a signal, or with docker, or with all that it has printed. Only
// full-screen commands have something to undo early; all others end at once.
#pragma once

#include <functional>

#include "cmd/docker-flowcon/plugin.h"

namespace flowcon::plugin {

/// From now on SIGINT (behind which a new line begins where stdout `is_interactive`), SIGTERM,
/// SIGHUP and SIGPIPE end the process with 128 + their number (docker would make 255 of a death by
/// signal). One that is ignored stays so, as nohup wants it.
void end_on_signals(bool is_interactive);

/// Connects to the socket that docker names in DOCKER_CLI_PLUGIN_SOCKET. When docker closes it (on
/// its first SIGINT or SIGTERM where stdout is no terminal, or because it died) the process ends
/// with 130. Without the variable, from an older docker, nothing happens. Once in a process: docker
/// 25 and 26.0 keep only the last connection, later ones take none after their first signal.
void end_with_docker(const Environment& environment);

/// While it lives, docker's end calls `ended`, in a thread without signals, and does nothing else.
/// One at a time.
class DockerWatch {
 public:
  explicit DockerWatch(std::function<void()> ended);
  DockerWatch(const DockerWatch&) = delete;
  DockerWatch& operator=(const DockerWatch&) = delete;
  /// Waits for a call that is under way.
  ~DockerWatch();

 private:
  const std::function<void()> ended_;
};

/// From now on a signal, SIGQUIT too, or the end of docker (as SIGINT), writes its number as a byte
/// into `file` instead of ending the process. -1 takes it back. Where a second one comes more than
/// two seconds after the first, nobody reads them: the terminal gets the modes back that it had,
/// and the process ends.
void pass_endings_to(int file);

/// Flushes what was printed. Returns `status`; where not all of it could be written a sentence on
/// stderr says why, and kDone becomes kFailed.
[[nodiscard]] int finish_output(Terminal& terminal, int status);

}  // namespace flowcon::plugin
