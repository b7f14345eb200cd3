// SPDX-License-Identifier: Apache-2.0
// What systemd is told, and the call itself against a bus of the test's own that answers as
// dbus-daemon and systemd do. A real systemd is met in the virtual machine's tests only.
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "cgroups/cpu.h"
#include "cgroups/io.h"
#include "cgroups/memory.h"
#include "tests/support/catch.h"
#include "tests/support/fake_systemd.h"

namespace flowcon::cgroups {

using Properties = std::vector<UnitProperty>;
using test::FakeSystemd;

namespace {

constexpr std::uint64_t kInfinity = std::numeric_limits<std::uint64_t>::max();
constexpr std::nullopt_t kNone = std::nullopt;

}  // namespace

TEST_CASE("a setting becomes systemd's properties in the spelling of its cgroup version") {
  CHECK(unit_properties({40, kNone, 100000}, true) ==
        Properties{{"CPUWeight", 40},
                   {"CPUQuotaPerSecUSec", kInfinity},
                   {"CPUQuotaPeriodUSec", kInfinity}});
  CHECK(unit_properties({410, 50000, 100000}, false) == Properties{{"CPUShares", 410},
                                                                   {"CPUQuotaPerSecUSec", 500000},
                                                                   {"CPUQuotaPeriodUSec", 100000}});
  CHECK(unit_properties({0, kNone, 100000}, true) ==
        Properties{{"CPUQuotaPerSecUSec", kInfinity}, {"CPUQuotaPeriodUSec", kInfinity}});
}

TEST_CASE("what nobody has set is taken back in systemd, not set to its default") {
  const Properties unset{{"CPUWeight", kInfinity},
                         {"CPUQuotaPerSecUSec", kInfinity},
                         {"CPUQuotaPeriodUSec", kInfinity}};
  CHECK(unit_properties({100, kNone, 100000}, true) == unset);
  CHECK(unit_properties({1024, kNone, 100000}, false)[0] == UnitProperty{"CPUShares", kInfinity});
  CHECK(unit_properties({1024, kNone, 100000}, true)[0] == UnitProperty{"CPUWeight", 1024});
  // docker run --cpu-period alone
  CHECK(unit_properties({100, kNone, 50000}, true)[2] == UnitProperty{"CPUQuotaPeriodUSec", 50000});
}

TEST_CASE("a quota that is told for good is a whole percent of a core, never less than given") {
  const auto told = [](std::int64_t quota, std::uint64_t period) {
    return unit_properties({100, quota, period}, true, Rounding::whole_percent)[1].value;
  };
  CHECK(told(33300, 100000) == 340000);  // as runc tells for docker run --cpus 0.333
  CHECK(told(33000, 100000) == 330000);
  CHECK(told(33001, 100000) == 340000);
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

TEST_CASE("CPU, memory and I/O of a scope are told in one call") {
  IoMechanism mechanism;
  mechanism.weight = WeightFile::io_weight;
  mechanism.has_caps = true;
  mechanism.is_v2 = true;
  Properties all = unit_properties({40, 50000, 100000}, true);
  for (UnitProperty& property : unit_properties(MemorySetting{8192}, true)) {
    all.push_back(std::move(property));
  }
  const IoSetting io{200, {{"8:0", {1048576, std::nullopt}}}};
  for (UnitProperty& property : unit_properties(io, mechanism, true)) {
    all.push_back(std::move(property));
  }
  FakeSystemd systemd;
  const auto told = tell_systemd("docker-4f.scope", all);
  systemd.join();
  INFO((told ? std::string() : told.error().message()));
  REQUIRE(told.has_value());
  CHECK(systemd.properties == all);
  CHECK(systemd.properties.size() == 3 + 1 + 1 + 4 + 1);
}

TEST_CASE("systemd's version is what it says on the bus") {
  FakeSystemd systemd;
  CHECK(ask_systemd_version().value() == "252.39-1~deb12u2");
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
