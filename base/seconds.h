// SPDX-License-Identifier: Apache-2.0
// Times are seconds, as doubles; clocks of the standard library have their own.
#pragma once

#include <chrono>

namespace flowcon {

/// Since the epoch.
[[nodiscard]] inline double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Of the clock that nobody sets.
[[nodiscard]] inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds as steady_clock, timers and streams count them.
[[nodiscard]] inline std::chrono::nanoseconds nanoseconds(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(seconds));
}

}  // namespace flowcon
