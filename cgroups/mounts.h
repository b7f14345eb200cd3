// SPDX-License-Identifier: Apache-2.0
// Where the cgroup hierarchies are mounted, from the text of /proc/self/mountinfo. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "cgroups/cgroup_fs.h"

namespace flowcon::cgroups {

/// Mount points as absolute paths without a slash at the end.
struct Mounts {
  std::map<std::string, std::string, std::less<>> v1;  ///< by controller ("cpu", "memory", …)
  std::string unified;                                 ///< of cgroup2, or ""
};

/// Takes the first mount of each hierarchy that shows it from its root; a mount of a part of one
/// (as inside containers) is ignored, because paths of /proc/PID/cgroup do not fit it. Named
/// hierarchies without a controller ("name=systemd") are left out. Lines that are not mountinfo
/// are skipped.
[[nodiscard]] Mounts parse_mountinfo(std::string_view text);

/// v1, v2 or hybrid, see Mode.
[[nodiscard]] Mode mode_of(const Mounts& mounts);

}  // namespace flowcon::cgroups
