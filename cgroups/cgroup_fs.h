// SPDX-License-Identifier: Apache-2.0
// Reading and writing one control file of one cgroup. The real one goes through libcgroup, the
// fake (tests/support) is a tree in memory. Nothing above this line touches /sys/fs/cgroup.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace flowcon::cgroups {

/// How this host mounts its controllers: v1 only v1 hierarchies; v2 the unified hierarchy alone (it
/// is /sys/fs/cgroup itself, or no v1 controller is mounted); hybrid v1 controllers and a cgroup2
/// mount beside them, empty or not. In hybrid mode is_v2() says where a controller is.
enum class Mode { v1, v2, hybrid };
[[nodiscard]] const char* name(Mode mode);

/// Access to control files. `group` is a path below the controller's mount point without a leading
/// slash ("docker/4f…"); `file` is a file name such as "cpu.shares".
/// Errors: ENOENT the file is missing (controller not enabled) while the group is there; ESTALE
/// the group itself is gone (dead container); ENODEV the controller is mounted nowhere; EINVAL an
/// unsafe name, or the kernel's own EINVAL for a value; else the kernel's errno.
class CgroupFs {
 public:
  virtual ~CgroupFs() = default;
  [[nodiscard]] virtual Mode mode() const = 0;
  /// True if the controller ("cpu", "memory", …) is to be used in the unified hierarchy, that is,
  /// if it has no v1 mount and there is a cgroup2 mount.
  [[nodiscard]] virtual bool is_v2(const std::string& controller) const = 0;
  /// The file's text without its last newline; at most 1 MiB of it.
  [[nodiscard]] virtual Result<std::string> read(const std::string& controller,
                                                 const std::string& group,
                                                 const std::string& file) const = 0;
  /// Writes one line (no newline in `text`, at most 99 bytes). The root group is refused.
  [[nodiscard]] virtual Result<void> write(const std::string& controller, const std::string& group,
                                           const std::string& file, const std::string& text) = 0;
  [[nodiscard]] virtual bool exists(const std::string& controller,
                                    const std::string& group) const = 0;
  /// Tells a group from every other one that had or will have its path, also after a reboot: a
  /// container that is started again has the path of its former life. "" = the group is gone.
  [[nodiscard]] virtual std::string life(const std::string& controller,
                                         const std::string& group) const = 0;
};

/// The kernel's, through libcgroup. Errors: no cgroup file system mounted, libcgroup cannot start.
[[nodiscard]] Result<std::unique_ptr<CgroupFs>> open_kernel_cgroups();

}  // namespace flowcon::cgroups
