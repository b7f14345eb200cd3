// SPDX-License-Identifier: Apache-2.0
// The plain types that the decisions are made of. No behaviour, no I/O.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace flowcon::ctrl {

/// Direction in which the evaluation function improves.
enum class Goal { min, max };

/// One value of the evaluation function E(t).
/// Units: time in seconds since the Unix epoch; value in the metric's own unit (may be NaN or
/// infinite where the job printed so).
struct Sample {
  double time = 0;
  double value = 0;
};

/// The lists of FlowCon: NL (young), WL (watching), CL (converged).
enum class List { nl, wl, cl };

/// A moment, read once per wake. Units: seconds; `wall` since the epoch, `steady` since any fixed
/// point, immune to clock changes.
struct Moment {
  double wall = 0;
  double steady = 0;
};

/// What the host has. Units: cores, bytes.
struct Host {
  double cores = 1;
  double memory = 1;
};

/// A resource that is limited. A new one is a row here, in kResources and in PerResource;
/// docs/architecture.md lists what else it needs.
enum class Resource { cpu, memory, io };

struct ResourceKind {
  Resource resource;
  const char* name;   ///< in options, in the API and in records
  const char* label;  ///< in the plugin's JSON
};

inline constexpr std::array<ResourceKind, 3> kResourceKinds{{{Resource::cpu, "cpu", "CPU"},
                                                             {Resource::memory, "memory", "Memory"},
                                                             {Resource::io, "io", "IO"}}};

/// All of them, in the order in which they are shown.
inline constexpr std::array kResources{Resource::cpu, Resource::memory, Resource::io};

/// One T for each resource.
template <class T>
struct PerResource {
  T cpu{};
  T memory{};
  T io{};

  [[nodiscard]] T& operator[](Resource resource) {
    return resource == Resource::cpu ? cpu : resource == Resource::memory ? memory : io;
  }
  [[nodiscard]] const T& operator[](Resource resource) const {
    return const_cast<PerResource&>(*this)[resource];
  }
};

/// Average use of one container over an interval, each as a share (0..1) of what the host has; io
/// as a share of the host's total in the interval.
using Usage = PerResource<double>;

/// What a job has used here. Units: CPU seconds and bytes since its container began; `memory` bytes
/// in use; `host_io` bytes of all disks of the host since it booted.
struct Used {
  double cpu = 0;
  double memory = 0;
  std::optional<std::uint64_t> io;  ///< empty: not counted
  std::uint64_t host_io = 0;
};

/// Of a counter, per second; empty where it is not known. One that went back is another one.
[[nodiscard]] inline std::optional<double> rate_of(const std::optional<std::uint64_t>& now,
                                                   const std::optional<std::uint64_t>& before,
                                                   double elapsed) {
  if (!now || !before || *now < *before || !(elapsed > 0)) return std::nullopt;
  return static_cast<double>(*now - *before) / elapsed;
}

/// "cpu", "memory", "io".
[[nodiscard]] constexpr const char* name(Resource resource) {
  return kResourceKinds[static_cast<std::size_t>(resource)].name;
}

/// "NL", "WL", "CL".
[[nodiscard]] constexpr const char* name(List list) {
  return list == List::nl ? "NL" : list == List::wl ? "WL" : "CL";
}

/// "min", "max".
[[nodiscard]] constexpr const char* name(Goal goal) { return goal == Goal::min ? "min" : "max"; }

}  // namespace flowcon::ctrl
