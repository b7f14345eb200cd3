// SPDX-License-Identifier: Apache-2.0
#include "ctrl/service.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace flowcon::ctrl::service {
namespace {

// Read once: the variables that tell of them are not for our children.
std::vector<int>& passed_sockets() {
  static std::vector<int> all = [] {
    std::vector<int> found;
    const int count = sd_listen_fds(1);
    for (int i = 0; i < count; ++i) found.push_back(SD_LISTEN_FDS_START + i);
    return found;
  }();
  return all;
}

std::string path_of(int file) {
  sockaddr_un address{};
  socklen_t size = sizeof address;
  if (::getsockname(file, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      address.sun_family != AF_UNIX) {
    return "a socket of another kind";
  }
  return address.sun_path;
}

}  // namespace

void tell_ready(const std::string& status) { sd_notify(0, ("READY=1\nSTATUS=" + status).c_str()); }
void tell_stopping() { sd_notify(0, "STOPPING=1\nSTATUS=restoring limits"); }

void tell_stop_lasts(double seconds, const std::string& status) {
  const auto us = static_cast<std::int64_t>(seconds * 1e6);
  sd_notify(0, ("EXTEND_TIMEOUT_USEC=" + std::to_string(us) + "\nSTATUS=" + status).c_str());
}

void tell_reloading() {
  // systemd asks for the moment, to tell this reload from an older one.
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t us = std::int64_t{now.tv_sec} * 1000000 + now.tv_nsec / 1000;
  sd_notify(0, ("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(us)).c_str());
}

void tell_alive() { sd_notify(0, "WATCHDOG=1"); }

Patience::Patience(std::chrono::milliseconds every) {
  // One word is good for six times as long as it takes to the next.
  const auto good_for = std::chrono::duration_cast<std::chrono::microseconds>(every * 6);
  const std::string word = "EXTEND_TIMEOUT_USEC=" + std::to_string(good_for.count());
  thread_ = std::thread([this, every, word] {
    std::unique_lock lock(mutex_);
    while (!end_.wait_for(lock, every, [this] { return is_ended_; })) {
      sd_notify(0, (word + "\nSTATUS=checking the state").c_str());
    }
  });
}

Patience::~Patience() {
  {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
  }
  end_.notify_one();
  thread_.join();
}

double watchdog_seconds() {
  std::uint64_t limit_us = 0;
  // Half of the limit, as sd_watchdog_enabled(3) recommends.
  return sd_watchdog_enabled(0, &limit_us) > 0 ? static_cast<double>(limit_us) / 2e6 : 0;
}

int take_socket(const std::string& path) {
  std::vector<int>& all = passed_sockets();
  const auto found = std::find_if(all.begin(), all.end(), [&](int file) {
    return sd_is_socket_unix(file, SOCK_STREAM, 1, path.c_str(), 0) > 0;
  });
  if (found == all.end()) return -1;
  const int file = *found;
  all.erase(found);
  return file;
}

std::vector<std::string> drop_other_sockets() {
  std::vector<std::string> paths;
  for (const int file : passed_sockets()) {
    paths.push_back(path_of(file));
    ::close(file);
  }
  passed_sockets().clear();
  return paths;
}

}  // namespace flowcon::ctrl::service
