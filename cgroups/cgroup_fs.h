// SPDX-License-Identifier: Apache-2.0
// Reading and writing one control file of one cgroup. The real one goes through libcgroup, the
// fake (tests/support) is a tree in memory. Nothing above this line touches /sys/fs/cgroup.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace flowcon::cgroups {

/// How this host mounts its controllers.
enum class Mode { v1, v2, hybrid };
[[nodiscard]] const char* name(Mode mode);

/// Access to control files. `group` is a path below the controller's mount point without a leading
/// slash ("docker/4f…"); `file` is a file name such as "cpu.shares".
/// Errors: ENOENT the file is missing (controller not enabled) while the group is there; ESTALE
/// the group itself is gone (dead container); EINVAL an unsafe name; else the kernel's errno.
class CgroupFs {
 public:
  virtual ~CgroupFs() = default;
  [[nodiscard]] virtual Mode mode() const = 0;
  /// True if the controller ("cpu", "memory", …) can be used below `group`, and on which version.
  [[nodiscard]] virtual bool is_v2(const std::string& controller) const = 0;
  [[nodiscard]] virtual Result<std::string> read(const std::string& controller,
                                                 const std::string& group,
                                                 const std::string& file) const = 0;
  [[nodiscard]] virtual Result<void> write(const std::string& controller, const std::string& group,
                                           const std::string& file, const std::string& text) = 0;
  [[nodiscard]] virtual bool exists(const std::string& controller,
                                    const std::string& group) const = 0;
};

/// The kernel's, through libcgroup. Errors: no cgroup file system mounted, libcgroup cannot start.
[[nodiscard]] Result<std::unique_ptr<CgroupFs>> open_kernel_cgroups();

}  // namespace flowcon::cgroups
