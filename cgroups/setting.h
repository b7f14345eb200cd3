// SPDX-License-Identifier: Apache-2.0
// All limits of one group together: CPU, memory's soft limit, block I/O. What a group does not have
// (no such controller, no weight on any disk) is none, and is left alone.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cgroups/cpu.h"
#include "cgroups/io.h"
#include "cgroups/memory.h"

namespace flowcon::cgroups {

struct Setting {
  CpuSetting cpu = {};
  MemorySetting memory = {};
  IoSetting io = {};
  bool operator==(const Setting&) const = default;
};

/// Equal in what they limit, see limits_alike() of each.
[[nodiscard]] bool limits_alike(const Setting& a, const Setting& b);

/// `setting` but for the CPU, which is as `cpu` has it.
[[nodiscard]] Setting with_cpu(Setting setting, const CpuSetting& cpu);

/// `original` with what another program has set of what is `there`: each limit that is neither as
/// `original` has it nor as `ours`, which flowcond wrote once. Quotas count as the same where they
/// are quotas_near(), since systemd rounds. Pure.
[[nodiscard]] Setting take_others(Setting original, const Setting& there, const Setting& ours);

/// Errors: of read_cpu. Memory and I/O that cannot be read are none.
[[nodiscard]] Result<Setting> read_setting(const CgroupFs& fs, const Group& group,
                                           const IoMechanism& mechanism);

/// Writes CPU and I/O, each on its own; memory only where `with_memory`, since on v2 lowering it
/// can block. What `from` (present, as known) has alike is not touched, but CPU is always compared
/// with the kernel. A cap of a disk that was taken away is left out, and the disk's number is added
/// to `gone`. Errors: of the first that failed; the others are written all the same.
[[nodiscard]] Result<void> write_setting(CgroupFs& fs, const Group& group, const Setting& from,
                                         const Setting& to, const IoMechanism& mechanism,
                                         bool with_memory,
                                         std::vector<std::string>* gone = nullptr);

/// What systemd is told of it in one call. Caps only where either of the two has some.
[[nodiscard]] std::vector<UnitProperty> unit_properties(const Setting& from, const Setting& to,
                                                        const CgroupFs& fs,
                                                        const IoMechanism& mechanism,
                                                        Rounding rounding);

}  // namespace flowcon::cgroups
