// SPDX-License-Identifier: Apache-2.0
// What systemd is told, and the call itself against a bus of the test's own that answers as
// dbus-daemon and systemd do. A real systemd is met in the virtual machine's tests only.
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "cgroups/cpu.h"
#include "tests/support/catch.h"

namespace flowcon::cgroups {

using Properties = std::vector<UnitProperty>;

namespace {

constexpr std::uint64_t kInfinity = std::numeric_limits<std::uint64_t>::max();
constexpr std::nullopt_t kNone = std::nullopt;

/// A message bus with one client and one unit, "docker-4f.scope".
class FakeSystemd {
 public:
  FakeSystemd() {
    std::string pattern = std::filesystem::temp_directory_path() / "flowcon-bus-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    const std::string path = folder_ + "/bus";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(listener_, 1) == 0);
    ::setenv("DBUS_SYSTEM_BUS_ADDRESS", ("unix:path=" + path).c_str(), 1);
    thread_ = std::thread([this] { serve(); });
  }
  FakeSystemd(const FakeSystemd&) = delete;
  FakeSystemd& operator=(const FakeSystemd&) = delete;
  ~FakeSystemd() {
    join();
    ::unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
    ::close(listener_);
    std::filesystem::remove_all(folder_);
  }
  /// Waits until the client has gone; what it said may be read afterwards.
  void join() {
    if (thread_.joinable()) thread_.join();
  }

  std::string unit;
  int runtime = -1;
  Properties properties;

 private:
  void serve() {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
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
      if (done == 0 && sd_bus_wait(bus, kInfinity) < 0) break;
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
    return 0;
  }

  int set_unit_properties(sd_bus_message* message) {
    const char* name = nullptr;
    sd_bus_message_read(message, "sb", &name, &runtime);
    unit = name;
    sd_bus_message_enter_container(message, 'a', "(sv)");
    std::uint64_t value = 0;
    while (sd_bus_message_read(message, "(sv)", &name, "t", &value) > 0) {
      properties.push_back({name, value});
    }
    if (unit != "docker-4f.scope") {
      return sd_bus_reply_method_errorf(message, "org.freedesktop.systemd1.NoSuchUnit",
                                        "Unit %s not loaded.", unit.c_str());
    }
    return sd_bus_reply_method_return(message, nullptr);
  }

  std::string folder_;
  int listener_ = -1;
  std::thread thread_;
};

}  // namespace

TEST_CASE("a setting becomes systemd's properties in the spelling of its cgroup version") {
  CHECK(unit_properties({40, kNone, 100000}, true) == Properties{{"CPUWeight", 40},
                                                                 {"CPUQuotaPerSecUSec", kInfinity},
                                                                 {"CPUQuotaPeriodUSec", 100000}});
  CHECK(unit_properties({410, 50000, 100000}, false) == Properties{{"CPUShares", 410},
                                                                   {"CPUQuotaPerSecUSec", 500000},
                                                                   {"CPUQuotaPeriodUSec", 100000}});
  CHECK(unit_properties({0, kNone, 100000}, true) ==
        Properties{{"CPUQuotaPerSecUSec", kInfinity}, {"CPUQuotaPeriodUSec", 100000}});
}

TEST_CASE("systemd, which rounds down, arrives at the quota that was written") {
  for (const std::uint64_t period : {1000U, 3333U, 33333U, 70001U, 100000U, 999999U, 1000000U}) {
    for (std::int64_t quota = 1000; quota < 3000000; quota += 997) {
      const auto properties = unit_properties({100, quota, period}, true);
      const std::uint64_t per_second = properties[1].value;
      // cgroup_apply_cpu of systemd 252: quota * period / 1 s, not below 1000 us
      REQUIRE(static_cast<std::int64_t>(per_second * period / 1000000) == quota);
    }
  }
}

TEST_CASE("only unit names reach systemd") {
  CHECK(check_unit("docker-4f0c1d.scope").has_value());
  CHECK(check_unit("libpod-4f\\x2d1.scope").has_value());
  for (const std::string& unit :
       {std::string(), std::string(".scope"), std::string("docker"), std::string("a/b.scope"),
        std::string("a b.scope"), std::string("a\n.scope"), std::string("a;b.scope"),
        std::string("x.mount"), std::string(250, 'x') + ".scope"}) {
    INFO(unit);
    CHECK(tell_systemd(unit, {100, kNone, 100000}, true).error().code.value() == EINVAL);
  }
}

TEST_CASE("a scope's limit is told as runtime properties") {
  FakeSystemd systemd;
  const auto told = tell_systemd("docker-4f.scope", {40, 50000, 100000}, true);
  systemd.join();
  INFO((told ? std::string() : told.error().message()));
  REQUIRE(told.has_value());
  CHECK(systemd.unit == "docker-4f.scope");
  CHECK(systemd.runtime == 1);
  CHECK(systemd.properties == unit_properties({40, 50000, 100000}, true));
}

TEST_CASE("a unit that systemd does not know is ENOENT with systemd's words") {
  FakeSystemd systemd;
  const auto told = tell_systemd("docker-5a.scope", {40, kNone, 100000}, true);
  REQUIRE_FALSE(told.has_value());
  CHECK(told.error().code.value() == ENOENT);
  CHECK(told.error().message().find("Unit docker-5a.scope not loaded.") != std::string::npos);
}

TEST_CASE("a host without a system bus is told so") {
  ::setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1);
  const auto told = tell_systemd("docker-4f.scope", {40, kNone, 100000}, true);
  ::unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
  REQUIRE_FALSE(told.has_value());
  CHECK(told.error().message().find("no system bus") != std::string::npos);
}

}  // namespace flowcon::cgroups
