// SPDX-License-Identifier: Apache-2.0
// The block devices of this host, and what their schedulers make of weights and caps of groups.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cgroups/cgroup_fs.h"
#include "cgroups/group.h"

namespace flowcon::cgroups {

/// One whole block device.
struct BlockDevice {
  std::string name;                     ///< "sda"
  std::string number;                   ///< "8:0"
  std::string scheduler;                ///< the active one ("bfq", "none"), "" where it has none
  std::vector<std::string> schedulers;  ///< all that it could have
  bool has_iocost = false;              ///< io.cost.qos has enable=1 for it
  bool operator==(const BlockDevice&) const = default;
};

/// The active scheduler is in brackets: "none [mq-deadline] bfq". Pure; odd words are left out.
void parse_schedulers(std::string_view text, BlockDevice& device);

/// Devices with a size from /sys/block below `root`, in the order of their names, 4096 at most;
/// loop, ram and zram devices are left out, since what lies on them lies on a disk as well or on
/// none. Where `fs` has io in the unified hierarchy its io.cost.qos is read too.
/// Errors: of opening /sys/block; a device that vanishes meanwhile is left out.
[[nodiscard]] Result<std::vector<BlockDevice>> read_block_devices(const CgroupFs& fs,
                                                                  const std::string& root = "");

/// Where a device is in a stack of devices (LVM, LUKS, RAID): one that lies on no other is a
/// bottom, one that lies on others a top unless more lie on it or on a partition of it.
enum class StackLevel { bottom, middle, top };

/// Reads each device once, in /sys/dev/block below `root`, until it is to forget(): devices
/// come, and numbers go to others.
class DeviceStacks {
 public:
  explicit DeviceStacks(std::string root = "") : root_(std::move(root)) {}
  /// By its number ("253:0"). One that is not there is a bottom.
  [[nodiscard]] StackLevel level_of(const std::string& number);
  void forget() { known_.clear(); }

 private:
  std::string root_;
  std::map<std::string, StackLevel> known_;
};

/// The file of a group that holds its weight.
enum class WeightFile { none, io_weight, io_bfq_weight, blkio_weight, blkio_bfq_weight };
/// "io.weight", …; "" for none.
[[nodiscard]] const char* name(WeightFile file);
/// What a group has there when nobody has set it: 100, blkio.weight 500.
[[nodiscard]] unsigned default_weight(WeightFile file);

/// How block I/O can be limited on this host.
struct IoMechanism {
  WeightFile weight = WeightFile::none;
  std::string weight_reason;  ///< on which devices it bites, or why there is none
  bool has_caps = false;      ///< io.max or blkio.throttle.*_bps_device
  bool is_v2 = false;
  std::string caps_reason;  ///< why there are none, else ""
};

/// Finds the mechanism in one group that is not the root (any container's will do) and
/// at the devices. The one that bites on most devices is taken, BFQ where two bite on as many; on
/// the devices of the other, weights then do nothing, and weight_reason says so. Writes nothing.
[[nodiscard]] IoMechanism probe_io(const CgroupFs& fs, const Group& group,
                                   const std::vector<BlockDevice>& devices);

}  // namespace flowcon::cgroups
