// SPDX-License-Identifier: Apache-2.0
#include "ctrl/service.h"

#include <systemd/sd-daemon.h>

#include <ctime>

namespace flowcon::ctrl::service {

void tell_ready(const std::string& status) { sd_notify(0, ("READY=1\nSTATUS=" + status).c_str()); }
void tell_status(const std::string& status) { sd_notify(0, ("STATUS=" + status).c_str()); }
void tell_stopping() { sd_notify(0, "STOPPING=1\nSTATUS=restoring limits"); }

void tell_reloading() {
  // systemd asks for the moment, to tell this reload from an older one.
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t us = std::int64_t{now.tv_sec} * 1000000 + now.tv_nsec / 1000;
  sd_notify(0, ("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(us)).c_str());
}

void tell_alive() { sd_notify(0, "WATCHDOG=1"); }

double watchdog_seconds() {
  std::uint64_t limit_us = 0;
  // Half of the limit, as sd_watchdog_enabled(3) recommends.
  return sd_watchdog_enabled(0, &limit_us) > 0 ? static_cast<double>(limit_us) / 2e6 : 0;
}

}  // namespace flowcon::ctrl::service
