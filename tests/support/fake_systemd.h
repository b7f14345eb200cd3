// SPDX-License-Identifier: Apache-2.0
// A system bus of the test's own that answers as dbus-daemon and systemd do, and one that does not
// answer.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cgroups/systemd.h"
#include "tests/support/catch.h"

namespace flowcon::test {

/// Where clients find the system bus, while it lives.
class BusSocket {
 public:
  BusSocket(int flags, int backlog) {
    std::string pattern = std::filesystem::temp_directory_path() / "flowcon-bus-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    const std::string path = folder_ + "/bus";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(listener, backlog) == 0);
    ::setenv("DBUS_SYSTEM_BUS_ADDRESS", ("unix:path=" + path).c_str(), 1);
  }
  BusSocket(const BusSocket&) = delete;
  BusSocket& operator=(const BusSocket&) = delete;
  ~BusSocket() {
    ::unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
    ::close(listener);
    std::filesystem::remove_all(folder_);
  }

  int listener = -1;

 private:
  std::string folder_;
};

/// A bus that answers nobody.
class MuteBus {
 public:
  /// How many have come since the last call; those that have gone count.
  int callers() {
    int count = 0;
    while (true) {
      const int fd = ::accept4(socket_.listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return count;
      ::close(fd);
      ++count;
    }
  }

 private:
  BusSocket socket_{SOCK_NONBLOCK, 64};
};

/// A message bus with one client and one unit, "docker-4f.scope".
class FakeSystemd {
 public:
  /// The first `unheard` callers have no answer.
  explicit FakeSystemd(int unheard = 0) : unheard_(unheard) {
    thread_ = std::thread([this] { serve(); });
  }
  FakeSystemd(const FakeSystemd&) = delete;
  FakeSystemd& operator=(const FakeSystemd&) = delete;
  ~FakeSystemd() { join(); }
  /// Waits until the client has gone; its messages can be read afterwards. Where none has come none
  /// is waited for.
  void join() {
    ::shutdown(socket_.listener, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
  }

  std::string unit;
  int runtime = -1;
  std::vector<cgroups::UnitProperty> properties;
  std::function<void()> on_told;  ///< runs before the answer, on another thread

 private:
  void serve() {
    const auto next_caller = [this] {
      return ::accept4(socket_.listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    };
    std::vector<int> unheard;
    for (int i = 0; i < unheard_; ++i) unheard.push_back(next_caller());
    const int fd = next_caller();
    for (const int caller : unheard) ::close(caller);
    if (fd < 0) return;
    sd_bus* bus = nullptr;
    sd_id128_t id{};
    id.bytes[0] = 1;
    sd_bus_new(&bus);
    sd_bus_set_fd(bus, fd, fd);
    sd_bus_set_server(bus, 1, id);
    sd_bus_start(bus);
    sd_bus_add_filter(bus, nullptr, &FakeSystemd::answer, this);
    while (true) {
      const int done = sd_bus_process(bus, nullptr);
      if (done < 0) break;
      if (done == 0 && sd_bus_wait(bus, UINT64_MAX) < 0) break;
    }
    sd_bus_close_unref(bus);
  }

  static int answer(sd_bus_message* message, void* self, sd_bus_error*) {
    auto* systemd = static_cast<FakeSystemd*>(self);
    if (sd_bus_message_is_method_call(message, "org.freedesktop.DBus", "Hello") > 0) {
      return sd_bus_reply_method_return(message, "s", ":1.1");
    }
    if (sd_bus_message_is_method_call(message, "org.freedesktop.systemd1.Manager",
                                      "SetUnitProperties") > 0) {
      return systemd->set_unit_properties(message);
    }
    if (sd_bus_message_is_method_call(message, "org.freedesktop.DBus.Properties", "Get") > 0) {
      return sd_bus_reply_method_return(message, "v", "s", "252.39-1~deb12u2");
    }
    return 0;
  }

  /// One "(sv)" of type "t" or "a(st)". Returns whether there was one.
  bool read_property(sd_bus_message* message) {
    if (sd_bus_message_enter_container(message, 'r', "sv") <= 0) return false;
    const char* name = nullptr;
    const char* kind = nullptr;
    char type = 0;
    sd_bus_message_read(message, "s", &name);
    sd_bus_message_peek_type(message, &type, &kind);
    cgroups::UnitProperty property{name};
    sd_bus_message_enter_container(message, 'v', kind);
    if (std::strcmp(kind, "t") == 0) {
      sd_bus_message_read(message, "t", &property.value);
    } else {
      property.devices.emplace();
      sd_bus_message_enter_container(message, 'a', "(st)");
      const char* node = nullptr;
      std::uint64_t value = 0;
      while (sd_bus_message_read(message, "(st)", &node, &value) > 0) {
        property.devices->push_back({node, value});
      }
      sd_bus_message_exit_container(message);
    }
    sd_bus_message_exit_container(message);
    sd_bus_message_exit_container(message);
    properties.push_back(std::move(property));
    return true;
  }

  int set_unit_properties(sd_bus_message* message) {
    const char* name = nullptr;
    sd_bus_message_read(message, "sb", &name, &runtime);
    unit = name;
    sd_bus_message_enter_container(message, 'a', "(sv)");
    while (read_property(message)) {
    }
    if (unit != "docker-4f.scope") {
      return sd_bus_reply_method_errorf(message, "org.freedesktop.systemd1.NoSuchUnit",
                                        "Unit %s not loaded.", unit.c_str());
    }
    if (on_told) on_told();
    return sd_bus_reply_method_return(message, nullptr);
  }

  BusSocket socket_{0, 1};
  int unheard_;
  std::thread thread_;
};

}  // namespace flowcon::test
