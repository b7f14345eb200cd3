// SPDX-License-Identifier: Apache-2.0
// What this host can really do, found by reading: nothing is written, nothing is switched on.
#pragma once

#include <string>
#include <vector>

#include "cgroups/cgroup_fs.h"

namespace flowcon::cgroups {

/// One thing that FlowCon can use where it is there.
struct Ability {
  std::string name;         ///< "cpu quota"; the same on every host
  bool is_there = false;    ///< found and usable; false where it is not checked
  std::string detail = {};  ///< what was found, or why it is not there
  std::string advice = {};  ///< what to do to have it; "" where it is there, or nothing can be done
  bool is_checked = true;   ///< false: it could not be checked, and the detail says why
  bool operator==(const Ability&) const = default;
};

/// Where to probe, for tests.
struct ProbePlaces {
  std::string root = "";                   ///< in front of /proc, /sys and every mount point
  bool asks_systemd = true;                ///< whether the system bus may be asked (2 s at most)
  std::string nvml = "libnvidia-ml.so.1";  ///< for the loader
  std::string parent = {};  ///< path of the group above this engine's containers; "" = not known
};

/// The abilities in a fixed order: cgroups, cpu, cpu use, cpu quota, memory, memory soft limit, io,
/// io weight, io caps, pressure, group pressure, systemd, root, host, delegation.
/// Files of groups are checked in one group that is not the root (the parent, else docker's,
/// systemd's or the first), since limits exist only there. Blocks 2 s at most where the bus is
/// asked (before the loop starts, or on the effects thread). Never fails: what cannot be found out
/// has a reason. Texts from the kernel are made printable.
[[nodiscard]] std::vector<Ability> probe_abilities(const CgroupFs& fs,
                                                   const ProbePlaces& places = {});

/// "gpu": are there GPUs whose use can be read? Blocks for ever where their driver hangs.
[[nodiscard]] Ability probe_gpu(const ProbePlaces& places);

}  // namespace flowcon::cgroups
