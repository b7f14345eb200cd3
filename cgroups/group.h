// SPDX-License-Identifier: Apache-2.0
// Which cgroups a process is in, and what is to be written to one of them. Knows no limit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cgroups/cgroup_fs.h"

namespace flowcon::cgroups {

/// Where one container lives. Paths without leading slash, below each controller's mount point.
struct Group {
  std::string cpu;      ///< on v2 the unified path
  std::string cpuacct;  ///< equals cpu on v2
  std::string memory;
  std::string scope;  ///< unit ("docker-….scope") of the system's systemd; "" = it has none there
  std::string io = {};  ///< of blkio on v1, of io (the unified path) on v2
};

/// The cgroups of a process. Errors: ESRCH the process is gone (an exiting process is shown in the
/// root group, so one in the root counts as gone); EINVAL a path that leads out of the hierarchy or
/// has odd bytes.
[[nodiscard]] Result<Group> find_group(std::int64_t pid, Mode mode, std::string_view id = {});

/// The same from the text of /proc/PID/cgroup. Pure. A controller named in a v1 line ("cpu,cpuacct"
/// too) is there; any other is in the unified hierarchy unless `mode` is v1. A controller that is
/// nowhere, or in the root group, has the path "". So has, but for the CPU, one that only a unified
/// group could have which does not bear the container's `id`: with the cgroupfs driver an engine on
/// a hybrid host makes no group there.
[[nodiscard]] Result<Group> parse_proc_cgroup(const std::string& text, Mode mode,
                                              std::string_view id = {});

/// The container's own groups, where its first process is in `group`: each path up to and with the
/// component that bears the container's id, since a process may have moved itself further down
/// (docker-in-docker, systemd, kind). Pure. Errors, as a sentence without a code: a path does not
/// bear the id, so that the group is somebody else's.
[[nodiscard]] Result<Group> own_group(const Group& group, std::string_view id);

/// own_group() of the process `pid`, as it is now. Errors: as find_group() and own_group().
[[nodiscard]] Result<Group> find_container_group(std::int64_t pid, std::string_view id, Mode mode);

/// The path of the group above; "" = the root.
[[nodiscard]] std::string parent_of(const std::string& path);

/// What block I/O's controller is called: "io" where it is in the unified hierarchy, else "blkio".
[[nodiscard]] std::string io_controller(const CgroupFs& fs);

/// One value for one file of a group whose path the caller knows.
struct Write {
  std::string controller;
  std::string file;
  std::string text;
  bool operator==(const Write&) const = default;
};

}  // namespace flowcon::cgroups
