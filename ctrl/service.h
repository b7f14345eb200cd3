// SPDX-License-Identifier: Apache-2.0
// What systemd is told of the daemon's state. Without systemd every call does nothing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace flowcon::ctrl::service {

void tell_ready(const std::string& status);
void tell_stopping();
/// Systemd is to wait for the end of a stop for so long from now on, whatever TimeoutStopSec says.
/// Unit: seconds.
void tell_stop_lasts(double seconds, const std::string& status);
/// tell_ready() ends it.
void tell_reloading();
void tell_alive();
/// As long as it lives systemd goes on waiting for the start, whatever TimeoutStartSec says: for
/// what takes the longer the more there is on the disk.
class Patience {
 public:
  explicit Patience(std::chrono::milliseconds every = std::chrono::seconds(5));
  ~Patience();
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable end_;
  bool is_ended_ = false;
  std::thread thread_;
};

/// How often tell_alive() must come, in seconds; 0 = no watchdog.
[[nodiscard]] double watchdog_seconds();

/// The listening unix socket with this path that systemd has passed on (flowcond.socket); -1 where
/// there is none. It belongs to the caller, who gets it once.
[[nodiscard]] int take_socket(const std::string& path);
/// Closes the sockets that nobody has taken and returns their paths: callers there would wait for
/// nobody.
[[nodiscard]] std::vector<std::string> drop_other_sockets();

}  // namespace flowcon::ctrl::service
