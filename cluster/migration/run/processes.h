// SPDX-License-Identifier: Apache-2.0
// Processes that the engine cannot end: those of a command that was run in a container, and a CRIU
// that hangs.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace flowcon::cluster::migration {

/// The line "`wanted`: VALUE" of /proc/PID/status. Empty where there is none, or no such process.
[[nodiscard]] std::string status_of(std::int64_t pid, const std::string& wanted);

/// The children of a process, by its threads. None where it is gone.
[[nodiscard]] std::vector<pid_t> children_of(pid_t pid);

/// Ends `pid` and all that came from it, by SIGKILL, as far as each is in the control group of the
/// container `id`. Nothing where it is no such process (any more), or signals are not allowed.
void end_processes(std::int64_t pid, const std::string& id);

/// Ends the CRIU that is saving the process `pid` of the container `id`, by SIGKILL: the job goes
/// on, and the engine answers that it was not saved. False where none does.
bool end_dump(std::int64_t pid, const std::string& id);

}  // namespace flowcon::cluster::migration
