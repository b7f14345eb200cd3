// SPDX-License-Identifier: Apache-2.0
// What a host accepts from its peers. Pure. The body comes from another machine: what is not known
// here is refused, so that a member that some engine will understand one day opens no door.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace flowcon::cluster::migration {

/// [accept] of flowcon.conf. As it stands here nothing special is accepted.
struct AcceptPolicy {
  bool privileged = false;       ///< --privileged, and whatever takes away the engine's own fences
  bool host_namespaces = false;  ///< network, PID, IPC, UTS, user or cgroup of the host
  std::vector<std::string> capabilities;  ///< beyond the engine's default: "SYS_PTRACE"; "ALL"
  std::vector<std::string> mounts;        ///< folders of this host; all below them too
  std::vector<std::string> devices;       ///< paths, "/dev/fuse"; "gpu" for --gpus
  std::vector<std::string> runtimes;      ///< beyond runc: "nvidia"
  bool criu = false;                      ///< processes that CRIU froze
  std::vector<std::string> log_drivers{"json-file", "local", "journald", "none"};
};

/// What the engine gets must be `body` rendered again, never the peer's own text: engines read
/// members without regard to case and may take the first of two that we take the last of. Paths are
/// judged as they are written: where links lead is asked by unfit_paths (mover_state.h).
///
/// Every reason why `body`, of a POST /containers/create, is not accepted, in words for people;
/// empty: it is. Linear in its size; at most kMaxRefusals reasons.
[[nodiscard]] std::vector<std::string> refusals(const boost::json::object& body,
                                                const AcceptPolicy& policy);

/// Why an engine whose default runtime is `runtime` must not make a container of `body`; empty: it
/// may, or the body names its runtime itself.
[[nodiscard]] std::string refused_default(const boost::json::object& body, std::string_view runtime,
                                          const AcceptPolicy& policy);

inline constexpr std::size_t kMaxRefusals = 64;

}  // namespace flowcon::cluster::migration
