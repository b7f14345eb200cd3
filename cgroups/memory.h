// SPDX-License-Identifier: Apache-2.0
// Memory of one cgroup: what it uses, and its soft limit, which makes the kernel take memory back
// sooner but never ends a process. Hard limits are read, never written: they kill.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "cgroups/cgroup_fs.h"
#include "cgroups/group.h"
#include "cgroups/pressure.h"
#include "cgroups/systemd.h"

namespace flowcon::cgroups {

/// Memory charged to a group and those below it. Units: bytes.
struct MemoryUse {
  std::uint64_t current = 0;  ///< all of it (v1 memory.usage_in_bytes, v2 memory.current)
  /// What cannot be dropped at once: all but the file pages that nobody used lately; never below 0
  /// (the two are read one after the other).
  std::uint64_t working_set = 0;
};

/// Errors: as CgroupFs::read; ENOENT without a memory group; EBADMSG.
[[nodiscard]] Result<MemoryUse> read_memory_use(const CgroupFs& fs, const Group& group);

/// The soft limit. v2 memory.high: above it the group's processes are slowed down and reclaimed
/// from, at once. v1 memory.soft_limit_in_bytes: while the host reclaims, it begins with the groups
/// that are above theirs. Units: bytes; none = no limit ("max"; v1 a number near 2^63).
struct MemorySetting {
  std::optional<std::uint64_t> soft_bytes = std::nullopt;
  bool operator==(const MemorySetting&) const = default;
};

/// The setting as the kernel holds it: rounded down to whole pages.
[[nodiscard]] MemorySetting rounded_to_pages(MemorySetting setting, std::uint64_t page_bytes);

/// The writes that turn `from` into `to`: one, or none where they are equal.
[[nodiscard]] std::vector<Write> render(const MemorySetting& from, const MemorySetting& to,
                                        bool is_v2);

/// Errors: as CgroupFs::read (ENOENT also where the kernel has no soft limits); ENOENT without a
/// memory group; EBADMSG.
[[nodiscard]] Result<MemorySetting> read_memory(const CgroupFs& fs, const Group& group);

/// Writes `to`, rounded down to pages, where it differs, and reads back.
/// On v2 lowering the limit below the use makes the kernel reclaim inside this call, which can take
/// seconds and waits for disks: call it on the effects thread only. On v1 it does not block.
/// Errors: as CgroupFs::write; EIO and both settings in the message where the kernel holds
/// something else afterwards.
[[nodiscard]] Result<void> write_memory(CgroupFs& fs, const Group& group, const MemorySetting& to);

/// The property for systemd: MemoryHigh on v2. systemd has no property for v1's soft limit, so
/// nothing there; MemoryLimit and MemoryMax are hard limits and never set. No limit takes it back.
[[nodiscard]] std::vector<UnitProperty> unit_properties(const MemorySetting& to, bool is_v2);

/// One controlled container.
struct MemoryShare {
  MemorySetting original;  ///< before control; a ceiling
  std::uint64_t working_set_bytes = 0;
  double limit = 1;  ///< share of the host's memory in (0,1]
};

/// When a host is short of memory, and how gentle the limits are.
struct MemoryParameters {
  double margin = 1.2;              ///< no limit below working set * margin; at least 1
  double low_available = 0.10;      ///< short while less than this share of memory is available
  double psi_threshold = 10;        ///< or while processes stall more than this, percent of 10 s
  double release_available = 0.15;  ///< no longer short only when more than this is available
  double release_psi = 5;           ///< and stalls are below this, percent of 10 s
};

/// Whether a soft limit leaves a group less than its working set times `margin`. Pure.
[[nodiscard]] bool is_below_need(const MemorySetting& setting, std::uint64_t working_set_bytes,
                                 double margin);

/// Whether the host is short of memory, given that it `was_short` before (hysteresis between the
/// two pairs of thresholds). A host that does not report its memory is not short; one without PSI,
/// or with more than half of its memory available (0.6 where it was short), is judged by what is
/// available. Pure.
[[nodiscard]] bool is_short_of_memory(const HostMemory& host, const MemoryParameters& parameters,
                                      bool was_short);

/// Soft limits for all controlled containers, in order; `is_short` is is_short_of_memory before
/// and, changed here, now. Pure.
///
/// Not short: everybody's original. Short: limit * total, but at least working set * margin, both
/// rounded up to 64 KiB (every page size divides it, so the kernel holds it exactly), and at most
/// the original. A limit of 1 is exactly the original. A limit below 1e-6 counts as 1e-6, one that
/// is above 1 or NaN as 1; a margin that is not finite or below 1 counts as 1.
/// Source: DESIGN.md, Limits.
[[nodiscard]] std::vector<MemorySetting> soften(const std::vector<MemoryShare>& shares,
                                                const HostMemory& host,
                                                const MemoryParameters& parameters, bool& is_short);

}  // namespace flowcon::cgroups
