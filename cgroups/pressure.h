// SPDX-License-Identifier: Apache-2.0
// How short a host is of CPU, memory and I/O: the kernel's pressure stall information
// (PSI), and the host's memory. Parsing is pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace flowcon::cgroups {

/// Time in which processes waited for one resource. Units: percent (0..100) of the last 10 s.
struct Stall {
  double some_avg10 = 0;  ///< at least one process waited
  bool operator==(const Stall&) const = default;
};

/// The stalls of a host; what cannot be had is missing, and `reason` says why.
struct Pressure {
  std::optional<Stall> cpu;
  std::optional<Stall> memory;
  std::optional<Stall> io;
  std::string reason;  ///< "" where nothing is missing
};

/// The host's memory. Units: bytes; 0 in total = unknown.
struct HostMemory {
  std::uint64_t total_bytes = 0;
  /// What programs could get without swapping, as the kernel estimates it.
  std::uint64_t available_bytes = 0;
  std::optional<double> pressure_some_avg10;  ///< percent of 10 s; none without PSI
};

/// One PSI file ("some avg10=0.00 avg60=… total=…"). Pure. Errors: EBADMSG where it is not PSI.
[[nodiscard]] Result<Stall> parse_pressure(std::string_view text);

/// /proc/meminfo; MemAvailable of a kernel before 3.14 is MemFree. Pure. Errors: EBADMSG.
[[nodiscard]] Result<HostMemory> parse_meminfo(std::string_view text);

/// /proc/pressure below `root`. Never fails as a whole: see Pressure.
[[nodiscard]] Pressure read_host_pressure(const std::string& root = "");

/// Memory and its pressure of the host, from /proc below `root`. Errors: of /proc/meminfo alone.
[[nodiscard]] Result<HostMemory> read_host_memory(const std::string& root = "");

}  // namespace flowcon::cgroups
