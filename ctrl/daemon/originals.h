// SPDX-License-Identifier: Apache-2.0
// Whose a limit is that is found in the kernel where flowcond has written none: others may have set
// it, or systemd may have brought back one of flowcond's own. For .cpp files only: it includes
// Asio.
#pragma once

#include "base/result.h"
#include "cgroups/cgroup_fs.h"
#include "cgroups/setting.h"
#include "ctrl/job.h"
#include "ctrl/limits.h"
#include "ctrl/store/store.h"

namespace flowcon::ctrl {

/// Takes what is `there` of what is not limited now: present, and what the job had where others
/// must have set it. The engine tells of an update, systemd and people who write by hand do not.
/// Where it differs from what the job had all the same it counts as limited. True where there is a
/// new original.
bool take_originals(Job& job, const cgroups::Setting& there, const Limits& limits);

/// What is saved of it before the first change.
[[nodiscard]] store::Original original_of(const Job& job, const Limits& limits);

/// Its setting now: memory and I/O are read only where flowcond has written there, else they are as
/// known.
[[nodiscard]] Result<cgroups::Setting> read_present(const Job& job, const cgroups::CgroupFs& fs,
                                                    const Limits& limits);

/// What is to be restored now: memory and I/O that were never limited are as others left them.
[[nodiscard]] store::Original original_to_restore(Job& job, const cgroups::CgroupFs& fs,
                                                  const Limits& limits);

}  // namespace flowcon::ctrl
