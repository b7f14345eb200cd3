// SPDX-License-Identifier: Apache-2.0
// GPUs through a library that is loaded as NVML is, and whose use is whose.
#include "cgroups/gpu.h"

#include <cerrno>
#include <cstdlib>
#include <map>
#include <string>

#include "cgroups/abilities.h"
#include "tests/support/catch.h"

namespace flowcon::cgroups {

namespace {

const std::string kNew = FLOWCON_FAKE_NVML;
const std::string kOld = FLOWCON_FAKE_OLD_NVML;

/// What is wrong with the fake's GPUs while it lives.
class Case {
 public:
  explicit Case(const char* name) { ::setenv("FAKE_NVML", name, 1); }
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;
  ~Case() { ::unsetenv("FAKE_NVML"); }
};

GpuReading read_gpus(const std::string& library) {
  auto gpus = Gpus::open(library);
  INFO((gpus ? std::string() : gpus.error().message()));
  REQUIRE(gpus.has_value());
  const auto reading = (*gpus)->read();
  REQUIRE(reading.has_value());
  return *reading;
}

int errno_of(const std::string& library) {
  const auto gpus = Gpus::open(library);
  return gpus ? 0 : gpus.error().code.value();
}

GpuProcess process(std::int64_t pid, std::size_t device, std::optional<std::uint64_t> memory,
                   std::optional<double> use) {
  return {pid, device, memory, use};
}

Group group(const std::string& path) { return {path, path, path, ""}; }

}  // namespace

TEST_CASE("GPUs, their memory and their processes are read from NVML") {
  const GpuReading reading = read_gpus(kNew);
  REQUIRE(reading.devices.size() == 2);
  CHECK(reading.devices[0].name == "Fake GPU 0");
  CHECK(reading.devices[1].number == 1);
  CHECK(reading.devices[1].uuid == "GPU-fake-1");
  CHECK(reading.devices[0].use == 0.8);
  CHECK(reading.devices[0].total_bytes == 16000);
  CHECK(reading.devices[1].use == 0.25);

  REQUIRE(reading.processes.size() == 3);
  CHECK(reading.processes[0].pid == 101);
  CHECK(reading.processes[0].device == 0);
  CHECK(reading.processes[0].memory_bytes == 1000);
  CHECK(reading.processes[0].use == 0.6);  // the newest of its samples
  CHECK(reading.processes[1].pid == 102);
  CHECK_FALSE(reading.processes[1].memory_bytes);
  CHECK(reading.processes[1].use == 0.0);  // its only sample is unset
  CHECK(reading.processes[2].pid == 101);
  CHECK(reading.processes[2].device == 1);
  CHECK(reading.processes[2].use == 0.25);
}

TEST_CASE("a process that did nothing since the reading before uses nothing") {
  auto gpus = Gpus::open(kNew).value();
  REQUIRE(gpus->read().has_value());
  const auto second = gpus->read();
  REQUIRE(second.has_value());
  CHECK(second->processes.at(0).use == 0.0);
}

TEST_CASE("an old driver's shorter entries are read too, without use of single processes") {
  const GpuReading reading = read_gpus(kOld);
  REQUIRE(reading.processes.size() == 3);
  CHECK(reading.processes[0].pid == 101);
  CHECK(reading.processes[0].memory_bytes == 1000);
  CHECK(reading.processes[1].pid == 102);
  CHECK_FALSE(reading.processes[0].use);
}

TEST_CASE("what a GPU cannot tell is missing, not 0") {
  const Case no_rates("no rates");
  CHECK_FALSE(read_gpus(kNew).devices.at(0).use);
}

TEST_CASE("a driver without use of single processes leaves it missing") {
  const Case no_samples("no samples");
  CHECK_FALSE(read_gpus(kNew).processes.at(0).use);
}

TEST_CASE("a lost GPU is left out and the others are read") {
  const Case lost("lost");
  const GpuReading reading = read_gpus(kNew);
  REQUIRE(reading.devices.size() == 1);
  CHECK(reading.devices[0].name == "Fake GPU 1");
  CHECK(reading.devices[0].number == 1);  // as docker counts
  REQUIRE(reading.processes.size() == 1);
  CHECK(reading.processes[0].device == 0);
}

TEST_CASE("more processes than were asked for are asked for again") {
  const Case many("many");
  const GpuReading reading = read_gpus(kNew);
  CHECK(reading.processes.size() > 80);  // over 40 on each of two
  CHECK(reading.processes.at(0).pid == 1000);
}

TEST_CASE("a library that lies about its numbers harms nobody") {
  for (const char* name : {"endless", "lying"}) {
    INFO(name);
    const Case bad(name);
    for (const GpuProcess& found : read_gpus(kNew).processes) CHECK(found.pid > 0);
  }
}

TEST_CASE("a host without GPUs says which way it has none") {
  CHECK(errno_of("libflowcon-no-such-library.so.1") == ENOENT);
  CHECK(errno_of("libc.so.6") == ENOSYS);  // a library, but not that one
  {
    const Case no_driver("no driver");
    CHECK(errno_of(kNew) == ENODEV);
    CHECK(Gpus::open(kNew).error().message().find('\x1b') == std::string::npos);
  }
  const Case no_count("no count");
  CHECK(Gpus::open(kNew).value()->read().error().code.value() == EIO);
}

TEST_CASE("a group is within itself and within those above, not within one of a like name") {
  CHECK(is_within(group("docker/4f"), group("docker/4f")));
  CHECK(is_within(group("docker/4f/init"), group("docker/4f")));
  CHECK_FALSE(is_within(group("docker/4f2"), group("docker/4f")));
  CHECK_FALSE(is_within(group("docker"), group("docker/4f")));
  CHECK_FALSE(is_within(group("docker/4f"), group("")));
}

TEST_CASE("each container gets what its processes use, on all GPUs together") {
  GpuReading reading;
  reading.devices.resize(2);
  reading.processes = {process(1, 0, 100, 0.5), process(2, 0, 50, 0.25),  process(1, 1, 7, 1.0),
                       process(3, 1, {}, 0.0),  process(9, 0, 1000, 0.1), process(8, 0, 5, 0.1)};
  const std::map<std::int64_t, std::string> where = {
      {1, "docker/a"}, {2, "docker/b/init"}, {3, "docker/b"}, {9, "user.slice"}};
  const auto group_of = [&](std::int64_t pid) -> Result<Group> {
    const auto found = where.find(pid);
    if (found == where.end()) return errno_error(ESRCH, "gone");
    return group(found->second);
  };
  const std::map<std::string, Group> containers = {
      {"a", group("docker/a")}, {"b", group("docker/b")}, {"idle", group("docker/c")}};
  CHECK(gpu_use_of(reading, containers, group_of) ==
        std::map<std::string, GpuUse>{{"a", {1.5, 107}}, {"b", {0.25, 50}}});
}

TEST_CASE("a GPU that does not tell its processes apart counts for a container that is alone") {
  GpuReading reading;
  reading.devices.resize(2);
  reading.devices[0].use = 0.8;
  reading.devices[1].use = 0.5;
  reading.processes = {process(1, 0, 100, {}), process(1, 1, 10, {}), process(2, 1, 20, {})};
  const auto group_of = [](std::int64_t pid) -> Result<Group> {
    return group(pid == 1 ? "docker/a" : "docker/b");
  };
  const std::map<std::string, Group> both = {{"a", group("docker/a")}, {"b", group("docker/b")}};
  CHECK(gpu_use_of(reading, both, group_of) ==
        std::map<std::string, GpuUse>{{"a", {std::nullopt, 110}}, {"b", {std::nullopt, 20}}});
  reading.processes.pop_back();
  CHECK(gpu_use_of(reading, both, group_of) ==
        std::map<std::string, GpuUse>{{"a", {0.8 + 0.5, 110}}});
  // one that is in no container keeps it from being alone
  reading.processes.push_back(process(2, 1, 20, {}));
  CHECK(gpu_use_of(reading, {{"a", group("docker/a")}}, group_of) ==
        std::map<std::string, GpuUse>{{"a", {std::nullopt, 110}}});
}

}  // namespace flowcon::cgroups
