// SPDX-License-Identifier: Apache-2.0
#include "cgroups/mounts.h"

#include <string>

#include "tests/support/catch.h"

namespace flowcon::cgroups {

namespace {

const std::string kV1 =
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw shared:10 master:2 - cgroup cgroup rw,memory\n"
    "40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup "
    "rw,xattr,release_agent=/x,name=systemd\n";

}  // namespace

TEST_CASE("v1 controllers are found where they are mounted, also two on one mount") {
  const Mounts mounts = parse_mountinfo(kV1);
  CHECK(mounts.v1 ==
        std::map<std::string, std::string, std::less<>>{{"cpu", "/sys/fs/cgroup/cpu,cpuacct"},
                                                        {"cpuacct", "/sys/fs/cgroup/cpu,cpuacct"},
                                                        {"memory", "/sys/fs/cgroup/memory"}});
  CHECK(mounts.unified.empty());
  CHECK(mode_of(mounts) == Mode::v1);
}

TEST_CASE("an empty cgroup2 beside v1 controllers makes a hybrid host") {
  const Mounts mounts =
      parse_mountinfo(kV1 + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  CHECK(mounts.unified == "/sys/fs/cgroup/unified");
  CHECK(mode_of(mounts) == Mode::hybrid);
}

TEST_CASE("cgroup2 alone is v2") {
  const Mounts mounts = parse_mountinfo(
      "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  CHECK(mounts.unified == "/sys/fs/cgroup");
  CHECK(mode_of(mounts) == Mode::v2);
}

TEST_CASE("the first mount from the root counts, a part of a hierarchy does not") {
  const Mounts mounts = parse_mountinfo(
      "1 1 0:1 /docker/4f /part rw - cgroup cgroup rw,cpu\n"
      "2 1 0:1 / /first rw - cgroup cgroup rw,cpu\n"
      "3 1 0:1 / /second rw - cgroup cgroup rw,cpu\n");
  CHECK(mounts.v1.at("cpu") == "/first");
}

TEST_CASE("a blank in a mount point is unescaped") {
  const Mounts mounts = parse_mountinfo("2 1 0:1 / /a\\040b\\134 rw - cgroup2 none rw\n");
  CHECK(mounts.unified == "/a b\\");
}

TEST_CASE("what is not mountinfo is skipped") {
  const Mounts mounts = parse_mountinfo(
      "\n   \nx\n1 2 3 / /p rw -\n1 2 3 / /p rw - cgroup\n1 2 3 / /p rw - cgroup x\n - - - - - - - "
      "-\n");
  CHECK(mounts.v1.empty());
  CHECK(mounts.unified.empty());
}

}  // namespace flowcon::cgroups
