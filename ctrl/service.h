// SPDX-License-Identifier: Apache-2.0
// What systemd is told of the daemon's state. Without systemd every call does nothing.
#pragma once

#include <cstdint>
#include <string>

namespace flowcon::ctrl::service {

void tell_ready(const std::string& status);
void tell_status(const std::string& status);
void tell_stopping();
/// tell_ready() ends it.
void tell_reloading();
void tell_alive();
/// How often tell_alive() must come, in seconds; 0 = no watchdog.
[[nodiscard]] double watchdog_seconds();

}  // namespace flowcon::ctrl::service
