// SPDX-License-Identifier: Apache-2.0
// Texts of /proc/PID/cgroup as kernels write them for containers.
#include <unistd.h>

#include <cerrno>
#include <string>

#include "cgroups/cpu.h"
#include "tests/support/catch.h"

namespace flowcon::cgroups {

namespace {

int errno_of(const std::string& text, Mode mode) {
  const auto group = parse_proc_cgroup(text, mode);
  REQUIRE_FALSE(group.has_value());
  return group.error().code.value();
}

}  // namespace

TEST_CASE("a v1 container's groups come from the lines of its controllers") {
  const auto group = parse_proc_cgroup(
      "9:name=systemd:/docker/4f\n5:blkio:/io/4f\n4:memory:/mem/4f\n3:cpuset:/docker/4f\n"
      "2:cpuacct:/acct/4f\n1:cpu:/docker/4f\n0::/\n",
      Mode::hybrid);
  REQUIRE(group.has_value());
  CHECK(group->cpu == "docker/4f");
  CHECK(group->cpuacct == "acct/4f");
  CHECK(group->memory == "mem/4f");
  CHECK(group->io == "io/4f");
  CHECK(group->scope.empty());
}

TEST_CASE("controllers mounted together are both found, also in the other order") {
  for (const char* text : {"4:cpu,cpuacct:/docker/4f\n3:memory:/docker/4f\n",
                           "4:cpuacct,cpu:/docker/4f\n3:memory:/docker/4f\n"}) {
    const auto group = parse_proc_cgroup(text, Mode::v1);
    REQUIRE(group.has_value());
    CHECK(group->cpu == "docker/4f");
    CHECK(group->cpuacct == "docker/4f");
  }
}

TEST_CASE("cpuset is not taken for cpu") {
  CHECK(errno_of("3:cpuset:/docker/4f\n", Mode::v1) == ESRCH);
}

TEST_CASE("a v2 container has one path for all, and its scope is the last component") {
  const auto group = parse_proc_cgroup("0::/system.slice/docker-4f0c1d.scope\n", Mode::v2);
  REQUIRE(group.has_value());
  CHECK(group->cpu == "system.slice/docker-4f0c1d.scope");
  CHECK(group->cpuacct == group->cpu);
  CHECK(group->memory == group->cpu);
  CHECK(group->io == group->cpu);
  CHECK(group->scope == "docker-4f0c1d.scope");
}

TEST_CASE("a group below a scope belongs to no scope of its own") {
  const auto group = parse_proc_cgroup("0::/system.slice/docker-4f.scope/init\n", Mode::v2);
  REQUIRE(group.has_value());
  CHECK(group->scope.empty());
}

TEST_CASE("a bare suffix is no scope") {
  const auto group = parse_proc_cgroup("0::/a/.scope\n", Mode::v2);
  REQUIRE(group.has_value());
  CHECK(group->scope.empty());
}

TEST_CASE("on a hybrid host a controller without a v1 hierarchy is in the unified one") {
  const auto group = parse_proc_cgroup("1:cpu,cpuacct:/docker/4f\n0::/unified/4f\n", Mode::hybrid);
  REQUIRE(group.has_value());
  CHECK(group->cpu == "docker/4f");
  CHECK(group->memory == "unified/4f");
  CHECK(group->io == "unified/4f");
}

TEST_CASE("on a v1 host a controller that is nowhere has no path") {
  const auto group = parse_proc_cgroup("1:cpu,cpuacct:/docker/4f\n0::/unified/4f\n", Mode::v1);
  REQUIRE(group.has_value());
  CHECK(group->memory.empty());
  CHECK(group->io.empty());
}

TEST_CASE("a path that leads out of the hierarchy is refused") {
  CHECK(errno_of("1:cpu:/../x\n", Mode::v1) == EINVAL);
  CHECK(errno_of("0::/../../docker/4f\n", Mode::v2) == EINVAL);
  const auto group = parse_proc_cgroup("1:cpu:/../x\n", Mode::v1);
  CHECK(group.error().message().find("leads out of its hierarchy") != std::string::npos);
}

TEST_CASE("odd bytes in a path are refused") {
  CHECK(errno_of("1:cpu:/docker/a b\n", Mode::v1) == EINVAL);
  CHECK(errno_of("1:cpu:/docker/\x1b[2J\n", Mode::v1) == EINVAL);
}

TEST_CASE("an exiting process, which v1 shows in the root, counts as gone") {
  CHECK(errno_of("2:cpuacct:/\n1:cpu:/\n0::/\n", Mode::hybrid) == ESRCH);
}

TEST_CASE("a removed group counts as gone") {
  CHECK(errno_of("0::/docker/4f (deleted)\n", Mode::v2) == ESRCH);
}

TEST_CASE("a text that is not /proc/PID/cgroup is refused") {
  for (const char* text : {"rubbish\n", "1:cpu\n", "1:cpu:docker\n"}) {
    INFO(text);
    CHECK_FALSE(parse_proc_cgroup(text, Mode::v1).has_value());
  }
  CHECK(errno_of("", Mode::v1) == ESRCH);
}

TEST_CASE("a colon in a path belongs to the path") {
  const auto group = parse_proc_cgroup("0::/a.slice/libpod:4f.scope\n", Mode::v2);
  REQUIRE(group.has_value());
  CHECK(group->scope == "libpod:4f.scope");
}

TEST_CASE("a process that does not exist is ESRCH") {
  for (const std::int64_t pid : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 40}) {
    const auto group = find_group(pid, Mode::v1);
    REQUIRE_FALSE(group.has_value());
    CHECK(group.error().code.value() == ESRCH);
  }
}

}  // namespace flowcon::cgroups
