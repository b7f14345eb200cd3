// SPDX-License-Identifier: Apache-2.0
// Reports the limits of a scope to systemd, so that a daemon-reload does not reset them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace flowcon::cgroups {

/// One entry of a property of type "a(st)": a block device's node and its limit.
struct DeviceValue {
  std::string node;  ///< "/dev/block/8:0"
  std::uint64_t value = 0;
  bool operator==(const DeviceValue&) const = default;
};

/// One property of a systemd unit: of type "t" (uint64), or of type "a(st)" where there are
/// devices. An "a(st)" adds to what systemd has; an empty one takes everything back.
struct UnitProperty {
  std::string name;
  std::uint64_t value = 0;
  std::optional<std::vector<DeviceValue>> devices = std::nullopt;
  bool operator==(const UnitProperty&) const = default;
};

/// A unit name that systemd may be asked about: 255 bytes at most of letters, digits and
/// ":-_.\\@", ending in ".scope" or ".slice" or ".service". Errors: EINVAL.
[[nodiscard]] Result<void> check_unit(const std::string& unit);

/// Sets runtime properties of a unit in one call, whatever they limit: CPU, memory and I/O together
/// (unit_properties of cpu.h, memory.h, io.h joined). systemd writes them to the cgroup at once, in
/// its own rounding, so what is to be exact is written after this call and not before.
/// Opens the system bus for this call and closes it; blocks 2 s at most (effects thread).
/// Errors: EINVAL a bad unit name; ENOENT no such unit; ETIMEDOUT; else sd-bus's errno (no system
/// bus, no permission).
[[nodiscard]] Result<void> tell_systemd(const std::string& unit,
                                        const std::vector<UnitProperty>& properties);

/// systemd's version as it gives it on the system bus ("252.39-1"), made printable. Blocks 2 s at
/// most. Errors: as tell_systemd.
[[nodiscard]] Result<std::string> ask_systemd_version();

}  // namespace flowcon::cgroups
