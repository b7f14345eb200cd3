// SPDX-License-Identifier: Apache-2.0
// What peers may bring to this host: [accept] of flowcon.conf. By default nothing special.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace flowcon::ctrl {

struct Accept {
  bool privileged = false;       ///< --privileged, and whatever takes away the engine's own fences
  bool host_namespaces = false;  ///< network, PID, IPC, UTS, user or cgroup of the host
  bool host_network = false;     ///< its network alone
  std::vector<std::string> capabilities;  ///< beyond the engine's default: "SYS_PTRACE"; "ALL"
  std::vector<std::string> mounts;        ///< folders of this host; all below them too
  std::vector<std::string> devices;       ///< paths, "/dev/fuse"; "gpu" for --gpus
  std::vector<std::string> runtimes;      ///< beyond runc: "nvidia"
  bool criu = false;  ///< processes that CRIU froze; who may bring them is as root

  [[nodiscard]] bool has_gpus() const {
    return std::find(devices.begin(), devices.end(), "gpu") != devices.end();
  }
};

}  // namespace flowcon::ctrl
