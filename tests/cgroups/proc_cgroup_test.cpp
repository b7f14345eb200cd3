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

const std::string kId(64, 'a');
const std::string kOther(64, 'b');

/// The CPU group of the container kId whose first process is in `path`; "" where it is refused.
std::string own_cpu(const std::string& path) {
  const auto group = parse_proc_cgroup("0::/" + path + "\n", Mode::v2);
  REQUIRE(group.has_value());
  const auto own = own_group(*group, kId);
  if (!own) CHECK(own.error().message().find("not the container's") != std::string::npos);
  return own ? own->cpu : "";
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

TEST_CASE("a container's own group ends with the component that bears its id") {
  const std::string scope = "docker-" + kId + ".scope";
  for (const std::string& own : {
           "docker/" + kId,                                                     // cgroupfs
           "system.slice/" + scope,                                             // systemd
           "user.slice/user-1000.slice/user@1000.service/user.slice/" + scope,  // rootless
           "kubepods/burstable/pod4c1d/" + kId,       // nested as kubelet does it
           "docker/" + kOther + "/docker/" + kId,     // in a container of another engine
           "machine.slice/libpod-" + kId + ".scope",  // podman
       }) {
    INFO(own);
    CHECK(own_cpu(own) == own);
    CHECK(own_cpu(own + "/init") == own);
    CHECK(own_cpu(own + "/init.scope/" + kOther) == own);
    CHECK(own_cpu(own + "/docker/" + kId) == own);  // a name that the container chose
  }
}

TEST_CASE("a group that does not bear the container's id is another's, and is refused") {
  CHECK(own_cpu("docker/" + kOther).empty());
  CHECK(own_cpu("system.slice/ssh.service").empty());
  CHECK(own_cpu("docker/" + kId + "b").empty());
  CHECK(own_cpu("docker/0" + kId).empty());
  CHECK(own_cpu("docker/" + kId.substr(1)).empty());
  Group group;
  group.cpu = "docker/" + kId;
  CHECK_FALSE(own_group(group, "").has_value());
}

TEST_CASE("each controller has its own group, and one in another's refuses the container") {
  const std::string own = "docker/" + kId;
  Group group{own + "/init", own, own + "/init/a", "", own};
  const auto found = own_group(group, kId);
  REQUIRE(found.has_value());
  CHECK(found->cpu == own);
  CHECK(found->cpuacct == own);
  CHECK(found->memory == own);
  CHECK(found->io == own);
  group.memory = "docker/" + kOther;
  CHECK_FALSE(own_group(group, kId).has_value());
  group.memory.clear();  // a controller that is nowhere is nobody's
  CHECK(own_group(group, kId).has_value());
}

TEST_CASE("a process below its container's scope is in that scope") {
  const std::string scope = "docker-" + kId + ".scope";
  const auto group = parse_proc_cgroup("0::/system.slice/" + scope + "/init\n", Mode::v2);
  REQUIRE(group.has_value());
  const auto own = own_group(*group, kId);
  REQUIRE(own.has_value());
  CHECK(own->scope == scope);
}

TEST_CASE("a scope of a user's own systemd is none that the system's knows") {
  const std::string scope = "docker-" + kId + ".scope";
  for (const std::string& below : {"user.slice/" + scope, "app.slice/" + scope + "/init"}) {
    INFO(below);
    const auto group = parse_proc_cgroup(
        "0::/user.slice/user-1000.slice/user@1000.service/" + below + "\n", Mode::v2);
    REQUIRE(group.has_value());
    const auto own = own_group(*group, kId);
    REQUIRE(own.has_value());
    CHECK(own->cpu.ends_with(scope));
    CHECK(own->scope.empty());
  }
  // A slice of that user belongs to the system's.
  const auto group = parse_proc_cgroup("0::/user.slice/user-1000.slice/" + scope + "\n", Mode::v2);
  REQUIRE(group.has_value());
  CHECK(group->scope == scope);
}

TEST_CASE("on a hybrid host a controller is nowhere whose unified group is not the container's") {
  const std::string own = "docker/" + kId;
  const std::string text = "2:blkio:/" + own + "\n1:cpu,cpuacct:/" + own + "\n0::/";
  const std::string others = "system.slice/containerd.service";
  const auto without_memory = parse_proc_cgroup(text + others + "\n", Mode::hybrid, kId);
  REQUIRE(without_memory.has_value());
  CHECK(without_memory->cpu == own);
  CHECK(without_memory->cpuacct == own);
  CHECK(without_memory->io == own);
  CHECK(without_memory->memory.empty());
  CHECK(own_group(*without_memory, kId).has_value());
  const auto with_memory = parse_proc_cgroup(text + own + "\n", Mode::hybrid, kId);
  REQUIRE(with_memory.has_value());
  CHECK(with_memory->memory == own);
  // The CPU's group is the container's or nobody's.
  const auto without_cpu =
      parse_proc_cgroup("2:memory:/" + own + "\n0::/" + others + "\n", Mode::hybrid, kId);
  REQUIRE(without_cpu.has_value());
  CHECK(without_cpu->cpu == others);
  CHECK_FALSE(own_group(*without_cpu, kId).has_value());
}

TEST_CASE("the number of a process that is no container's is refused with a sentence") {
  const auto group = find_group(::getpid(), Mode::hybrid);
  if (!group) return;  // in the root group
  const auto own = find_container_group(::getpid(), kId, Mode::hybrid);
  REQUIRE_FALSE(own.has_value());
  CHECK(own.error().message().find("another process") != std::string::npos);
}

TEST_CASE("a process that does not exist is ESRCH") {
  for (const std::int64_t pid : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 40}) {
    const auto group = find_group(pid, Mode::v1);
    REQUIRE_FALSE(group.has_value());
    CHECK(group.error().code.value() == ESRCH);
  }
}

TEST_CASE("the group above another one") {
  CHECK(parent_of("system.slice/docker-a.scope") == "system.slice");
  CHECK(parent_of("a/b/c") == "a/b");
  CHECK(parent_of("docker").empty());
}

}  // namespace flowcon::cgroups
