// SPDX-License-Identifier: Apache-2.0
// Block I/O of one cgroup: what it uses, its weight and its caps, in the spelling of v1 and v2.
// Weights bite only where a scheduler uses them (BFQ, iocost, CFQ of old kernels); which file
// that is differs by host, so it is found first (IoMechanism) and then passed along.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cgroups/cgroup_fs.h"
#include "cgroups/disks.h"
#include "cgroups/group.h"
#include "cgroups/systemd.h"
#include "cgroups/weights.h"

namespace flowcon::cgroups {

/// Bytes that a group and those below it moved from and to one block device since the group was
/// made. Discards are left out.
struct IoUse {
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  bool operator==(const IoUse&) const = default;
};

/// By device ("8:0", a whole disk). A device mapper's I/O is seen on it and on what it lies on.
using IoUses = std::map<std::string, IoUse>;

/// v2 io.stat; v1 the first that is there of blkio.throttle.io_service_bytes_recursive, the same
/// not recursive, blkio.bfq.… likewise, blkio.io_… (CFQ).
/// On v1 the kernel charges buffered writes to the root group, so only direct ones are seen.
/// Errors: as CgroupFs::read; ENOENT also without an I/O group; EBADMSG.
[[nodiscard]] Result<IoUses> read_io_use(const CgroupFs& fs, const Group& group);

/// Bytes that all devices have moved, each once: what a stack of devices (LVM, LUKS, RAID) moves is
/// seen at its top and at its bottom. dm-crypt writes by a thread of the kernel's, whose bytes
/// count for the root group at the bottom; so the larger of the two sums is taken, reads and writes
/// apart.
[[nodiscard]] std::uint64_t moved_bytes(const IoUses& uses, DeviceStacks& stacks);

/// Bytes that all whole disks have moved since the host booted, from /proc/diskstats below `root`;
/// loop, ram and zram devices and partitions are left out. Errors: of opening it; EBADMSG.
[[nodiscard]] Result<std::uint64_t> read_host_io(const std::string& root = "");

/// The same from the text; `is_disk` distinguishes whole disks from partitions by name. Pure.
[[nodiscard]] Result<std::uint64_t> parse_diskstats(
    std::string_view text, const std::function<bool(const std::string& name)>& is_disk);

/// The text of io.stat. Pure. Errors: EBADMSG.
[[nodiscard]] Result<IoUses> parse_io_stat(std::string_view text);

/// Caps of one group on one device, per second; none = no cap. Only the bandwidths are ours to
/// change; operations are here because systemd, once it has a bandwidth, writes all four.
struct IoCap {
  std::optional<std::uint64_t> read_bytes = std::nullopt;
  std::optional<std::uint64_t> written_bytes = std::nullopt;
  std::optional<std::uint64_t> read_ops = std::nullopt;
  std::optional<std::uint64_t> written_ops = std::nullopt;
  bool operator==(const IoCap&) const = default;
};

/// A setting as the kernel holds it. `weight` is in the unit of the mechanism's file, none without
/// one; a device that is not in `caps` has no cap (an all-none IoCap means the same).
struct IoSetting {
  std::optional<std::uint64_t> weight = std::nullopt;
  std::map<std::string, IoCap> caps = {};
  bool operator==(const IoSetting&) const = default;
};

/// The nearest weight that the file can hold. Source: kernel, block/: io.weight 1..10000,
/// io.bfq.weight and blkio.bfq.weight 1..1000, blkio.weight 10..1000.
[[nodiscard]] std::uint64_t clamp_weight(std::uint64_t weight, WeightFile file);

/// Whether two settings limit alike: equal, but for caps that are all none.
[[nodiscard]] bool limits_alike(const IoSetting& a, const IoSetting& b);

/// The writes that turn `from` into `to` (clamped); nothing for what is equal already, and no
/// weight where either has none. What io.max does not name it leaves alone, so only what differs is
/// named; on v1 a cap of 0 is none.
[[nodiscard]] std::vector<Write> render(const IoSetting& from, const IoSetting& to,
                                        const IoMechanism& mechanism);

/// Errors: as CgroupFs::read; ENOENT without an I/O group; EBADMSG. Per-device weights of a user
/// stay where they are and are not read. A kernel without throttling has no caps.
[[nodiscard]] Result<IoSetting> read_io(const CgroupFs& fs, const Group& group,
                                        const IoMechanism& mechanism);

/// Writes what differs and reads back. `to` is clamped first.
/// Errors: EINVAL a device that is not MAJOR:MINOR, or a cap of 0; as CgroupFs::write (ENODEV or
/// ENXIO: no such disk, or a partition), the message says what had been applied, and that is undone
/// where the kernel lets us; EIO and both settings in the message where the kernel holds something
/// else afterwards.
[[nodiscard]] Result<void> write_io(CgroupFs& fs, const Group& group, const IoSetting& to,
                                    const IoMechanism& mechanism);

/// The properties for systemd: IOWeight in its own unit (1..10000, default 100), and with
/// `with_caps` the four caps, each taken back first and then given for every device of `to`.
/// systemd writes them at once, all four of a device, so write_io must follow. Set caps in quota
/// mode, and once more when it ends; given only weights, systemd leaves io.max alone. systemd makes
/// io.bfq.weight of IOWeight: as it is up to 100, then in steps of 11, which is turned round here
/// exactly. On v1 it makes blkio.weight = 5 * IOWeight, so what it holds there is near only (bfq
/// above 181: the nearest), and the write that follows makes it right. Source: systemd 252,
/// src/core/cgroup.c and src/basic/cgroup-util.h (BFQ_WEIGHT).
[[nodiscard]] std::vector<UnitProperty> unit_properties(const IoSetting& to,
                                                        const IoMechanism& mechanism,
                                                        bool with_caps);

/// One controlled container.
struct IoShare {
  IoSetting original;  ///< before control; its caps stay ceilings
  std::string parent;  ///< parent group; weights compete among siblings only
  double limit = 1;    ///< share of the host's I/O in (0,1]
  double factor = 1;   ///< user's own factor on the weight, > 0
};

/// Settings for all controlled containers at once, in order. Pure.
///
/// weight: as scaled_weights (weights.h), clamped to the file's range; caps stay the originals.
///   Without a weight file everything stays the original.
/// quota: read and write cap of every device of `bandwidth` = limit * its bandwidth, at least
///   1 MiB/s (one request may be that large) and never above the original's; other devices and
///   operations stay the originals. A limit of 1 is exactly the original. The weight follows the
///   formula with every limit at 1.
/// `bandwidth`: bytes/s by device; one that is not finite or below 1 is left out.
/// Source: DESIGN.md, Limits.
[[nodiscard]] std::vector<IoSetting> share_out_io(const std::vector<IoShare>& shares,
                                                  LimitMode mode,
                                                  const std::map<std::string, double>& bandwidth,
                                                  const IoMechanism& mechanism);

}  // namespace flowcon::cgroups
