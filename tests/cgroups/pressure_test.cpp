// SPDX-License-Identifier: Apache-2.0
// Texts of /proc/pressure, of *.pressure and of /proc/meminfo, and what is missing where.
#include "cgroups/pressure.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/fake_cgroups.h"
#include "tests/support/fake_root.h"

namespace flowcon::cgroups {

using test::FakeCgroups;
using test::FakeRoot;

namespace {

const std::string kStall =
    "some avg10=12.50 avg60=2.63 avg300=14.30 total=7915803985\n"
    "full avg10=3.25 avg60=0.00 avg300=0.00 total=0\n";

}  // namespace

TEST_CASE("a stall is the share of the last 10 s") {
  CHECK(parse_pressure(kStall).value() == Stall{12.5});
  // CPU of a kernel before 5.13.
  CHECK(parse_pressure("some avg10=0.00 avg60=0 avg300=0 total=0").value() == Stall{0});
}

TEST_CASE("what is not PSI is EBADMSG") {
  for (const char* text :
       {"", "some", "full avg10=1.00", "some avg10=", "some avg10=x", "some avg10=-1",
        "some avg10=101", "some avg10=nan", "some avg60=1.0", "some avg10=inf", "\x1b[2J"}) {
    INFO(text);
    CHECK(parse_pressure(text).error().code.value() == EBADMSG);
  }
}

TEST_CASE("the host's memory is bytes, with MemFree where an old kernel has no estimate") {
  const HostMemory memory =
      parse_meminfo("MemTotal:       1000 kB\nMemFree: 10 kB\nMemAvailable:  400 kB\n").value();
  CHECK(memory.total_bytes == 1024000);
  CHECK(memory.available_bytes == 409600);
  CHECK(parse_meminfo("MemTotal: 1000 kB\nMemFree: 10 kB\n").value().available_bytes == 10240);
}

TEST_CASE("what is not meminfo is EBADMSG") {
  for (const char* text : {"", "MemTotal: 5 kB", "MemTotal: x kB\nMemFree: 1 kB", "MemFree: 1 kB",
                           "MemTotal: 0 kB\nMemFree: 0 kB", "MemTotal:\nMemFree:",
                           "MemTotal: 18446744073709551615 kB\nMemFree: 1 kB"}) {
    INFO(text);
    CHECK(parse_meminfo(text).error().code.value() == EBADMSG);
  }
}

TEST_CASE("a host's pressure and memory are read together") {
  FakeRoot root;
  root.put("/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 400 kB\n");
  root.put("/proc/pressure/cpu", kStall);
  root.put("/proc/pressure/memory", "some avg10=7.00 avg60=0 avg300=0 total=1\n");
  root.put("/proc/pressure/io", kStall);
  const Pressure pressure = read_host_pressure(root.path());
  CHECK(pressure.cpu == Stall{12.5});
  CHECK(pressure.io == Stall{12.5});
  CHECK(pressure.reason.empty());
  CHECK(read_host_memory(root.path()).value().pressure_some_avg10 == 7.0);
}

TEST_CASE("a host without PSI says how to get it, and its memory is still known") {
  FakeRoot root;
  root.put("/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 400 kB\n");
  const Pressure pressure = read_host_pressure(root.path());
  CHECK_FALSE(pressure.cpu);
  CHECK_FALSE(pressure.memory);
  CHECK(pressure.reason.find("psi=1") != std::string::npos);
  const HostMemory memory = read_host_memory(root.path()).value();
  CHECK(memory.available_bytes == 409600);
  CHECK_FALSE(memory.pressure_some_avg10);
  root.remove("/proc/meminfo");
  CHECK(read_host_memory(root.path()).error().code.value() == ENOENT);
}

}  // namespace flowcon::cgroups
