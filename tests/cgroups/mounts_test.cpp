// SPDX-License-Identifier: Apache-2.0
#include "cgroups/mounts.h"

#include <string>
#include <vector>

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

TEST_CASE("the mount that holds a path is found along it, and what another hides is not") {
  const MountTable table(parse_mounts(
      "20 1 0:20 / / rw - overlay overlay rw,lowerdir=/l/A:l/B:/l/C,upperdir=/x/diff,workdir=/x/w\n"
      "21 20 8:1 /v /out rw - ext4 /dev/sda1 rw\n"
      "22 20 0:30 / /datasets rw - nfs4 server:/a rw\n"
      "23 22 0:31 / /datasets/local rw - tmpfs tmpfs rw\n"
      "24 20 0:32 / /a rw - tmpfs tmpfs rw\n"
      "25 24 0:33 / /a/b rw - tmpfs tmpfs rw\n"
      "26 24 0:34 / /a rw - fuse.sshfs host: rw\n"));
  const auto device = [&](const char* path) { return table.holding(path)->device; };
  CHECK(device("/") == "0:20");
  CHECK(device("/tmp/train.log") == "0:20");
  CHECK(device("/out/log") == "8:1");
  CHECK(device("/outside") == "0:20");
  CHECK(device("/datasets") == "0:30");
  CHECK(device("/datasets/local/log") == "0:31");
  CHECK(device("/a/b/log") == "0:34");  // mounted over later
  CHECK(table.child(20, "/datasets")->type == "nfs4");
  CHECK(table.child(20, "/datasets/local") == nullptr);
  CHECK(table.by_id(21)->root == "/v");
  CHECK(layers_of(*table.root()) == std::vector<std::string>{"/l/A", "/l/C", "/x/diff"});
  CHECK(layers_of(*table.by_id(21)).empty());
}

TEST_CASE("an overlay of a hostile name is read as far as it can be, and is not one of this host") {
  const MountTable table(parse_mounts(
      "20 1 0:40 / / rw - overlay overlay rw,lowerdir=/l/A,upperdir=/x/diff\n"
      "21 20 0:41 / /out rw - overlay o rw,lowerdir=/b:/a\\134\\054upperdir,redirect_dir=on\n"));
  CHECK(layers_of(*table.by_id(21)) == std::vector<std::string>{"/b", "/a\\"});
  CHECK(table.has_overlay(*table.by_id(20)));
  const MountTable host(parse_mounts(
      "90 1 0:40 / /var/lib/m rw - overlay overlay rw,lowerdir=/l/A,upperdir=/x/diff\n"));
  CHECK(host.has_overlay(*table.by_id(20)));
  CHECK_FALSE(host.has_overlay(*table.by_id(21)));
}

TEST_CASE("of several roots the topmost counts, and a process in a chroot has none") {
  const MountTable stacked(
      parse_mounts("1 1 0:2 / / rw - rootfs rootfs rw\n30 1 8:1 / / rw - ext4 /dev/sda1 rw\n"));
  REQUIRE(stacked.root() != nullptr);
  CHECK(stacked.root()->id == 30);
  const MountTable inside(parse_mounts("31 30 0:5 / /proc rw - proc proc rw\n"));
  CHECK(inside.root() == nullptr);
  CHECK(inside.holding("/proc/1") == nullptr);
}

TEST_CASE("mounts in a circle are no endless way") {
  const MountTable table(parse_mounts(
      "1 2 0:2 / / rw - tmpfs a rw\n2 1 0:3 / / rw - tmpfs b rw\n3 3 0:4 / /x rw - tmpfs c rw\n"));
  CHECK(table.holding("/x/y") == nullptr);
  CHECK(table.child(1, "/") != nullptr);
}

TEST_CASE("a file system of the network, of a user's program or of an unknown kind is not local") {
  for (const char* type : {"ext4", "xfs", "btrfs", "overlay", "tmpfs", "zfs", "proc"}) {
    CHECK(is_local_type(type));
  }
  for (const char* type : {"nfs", "nfs4", "cifs", "smb3", "ceph", "fuse", "fuse.sshfs", "fuseblk",
                           "9p", "virtiofs", "autofs", "lustre", "", "new"}) {
    CHECK_FALSE(is_local_type(type));
  }
}

}  // namespace flowcon::cgroups
