// SPDX-License-Identifier: Apache-2.0
// Network traffic of one container, from the network namespace of its first process. cgroups count
// none; a namespace is what containers have of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace flowcon::cgroups {

/// Traffic since the interfaces were made, without loopback. Units: bytes, packets.
struct NetworkUse {
  std::uint64_t rx_bytes = 0;
  std::uint64_t tx_bytes = 0;
  std::uint64_t tx_packets = 0;
  bool operator==(const NetworkUse&) const = default;
};

/// The text of /proc/PID/net/dev: the sum of all interfaces but "lo". Pure. Errors: EBADMSG.
[[nodiscard]] Result<NetworkUse> parse_net_dev(std::string_view text);

/// When a process began, in clock ticks since boot (field 22 of /proc/PID/stat): with the pid it
/// names one process for good. Errors: ESRCH; EBADMSG.
[[nodiscard]] Result<std::uint64_t> read_start_ticks(std::int64_t pid,
                                                     const std::string& root = "");

/// The same from the text of /proc/PID/stat. Pure. Errors: EBADMSG.
[[nodiscard]] Result<std::uint64_t> parse_start_ticks(std::string_view text);

/// The traffic of the process's network namespace; nullopt where that is ours or init's (the host's
/// traffic, docker run --net=host), since it is not the container's. Containers that share one
/// namespace (--net=container:…) each show all of it. A counter falls when an interface goes.
///
/// A pid that ended may belong to another process since. With `start_ticks` this is noticed before
/// and after reading, and is ESRCH; without it, the caller must know that the process lives.
/// Errors: ESRCH the process is gone; EACCES not permitted to look; EBADMSG.
[[nodiscard]] Result<std::optional<NetworkUse>> read_network_use(
    std::int64_t pid, std::optional<std::uint64_t> start_ticks = std::nullopt,
    const std::string& root = "");

}  // namespace flowcon::cgroups
