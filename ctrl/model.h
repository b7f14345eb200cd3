// SPDX-License-Identifier: Apache-2.0
// The plain types that the decisions are made of. No behaviour, no I/O.
#pragma once

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

/// The lists of FlowCon: NL (young), WL (watching), CL (completing).
enum class List { nl, wl, cl };

/// Average use of one container over an interval, each as a share (0..1) of what the host has.
/// `blkio` is a share of the host total in the interval.
struct Usage {
  double cpu = 0;
  double memory = 0;
  double blkio = 0;
};

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

/// What is limited.
enum class Resource { cpu, memory, io };

/// "cpu", "memory", "io".
[[nodiscard]] constexpr const char* name(Resource resource) {
  return resource == Resource::cpu ? "cpu" : resource == Resource::memory ? "memory" : "io";
}

/// "NL", "WL", "CL".
[[nodiscard]] constexpr const char* name(List list) {
  return list == List::nl ? "NL" : list == List::wl ? "WL" : "CL";
}

/// "min", "max".
[[nodiscard]] constexpr const char* name(Goal goal) { return goal == Goal::min ? "min" : "max"; }

}  // namespace flowcon::ctrl
