// SPDX-License-Identifier: Apache-2.0
// What hosts of several kinds are found to be able to do. The hosts are folders; one real system
// bus of the test's own stands for systemd's.
#include "cgroups/abilities.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "cgroups/beneath.h"
#include "cgroups/mounts.h"
#include "tests/support/catch.h"
#include "tests/support/fake_root.h"
#include "tests/support/fake_systemd.h"

namespace flowcon::cgroups {

using test::FakeRoot;
using test::FakeSystemd;

namespace {

/// The cgroup file systems of a FakeRoot, read only.
class RootCgroups final : public CgroupFs {
 public:
  explicit RootCgroups(const FakeRoot& root)
      : root_(root.path()),
        mounts_(parse_mountinfo(read_proc(root_ + "/proc/self/mountinfo").value())) {}
  Mode mode() const override { return mode_of(mounts_); }
  bool is_v2(const std::string& controller) const override {
    return mounts_.v1.count(controller) == 0 && !mounts_.unified.empty();
  }
  Result<std::string> read(const std::string& controller, const std::string& group,
                           const std::string& file) const override {
    return read_beneath(root_ + mount(controller), group.empty() ? file : group + "/" + file);
  }
  Result<void> write(const std::string&, const std::string&, const std::string&,
                     const std::string&) override {
    FAIL("probing writes nothing");
    return errno_error(EPERM, "write");
  }
  bool exists(const std::string& controller, const std::string& group) const override {
    return find_directory_beneath(root_ + mount(controller), group).has_value();
  }
  std::string life(const std::string&, const std::string&) const override { return ""; }

 private:
  [[nodiscard]] std::string mount(const std::string& controller) const {
    const auto found = mounts_.v1.find(controller);
    return found == mounts_.v1.end() ? mounts_.unified : found->second;
  }
  std::string root_;
  Mounts mounts_;
};

void put_common(const FakeRoot& root) {
  const std::string stall = "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
  for (const char* resource : {"cpu", "memory", "io"}) {
    root.put(std::string("/proc/pressure/") + resource, stall);
  }
  root.put("/proc/self/status", "Name:\tflowcond\nUid:\t0\t0\t0\t0\n");
  root.put("/proc/self/uid_map", "         0          0 4294967295\n");
  root.link("/proc/self/ns/cgroup", "cgroup:[4026531835]");
  root.link("/proc/self/ns/pid", "pid:[4026531836]");
  root.put("/sys/block/sda/dev", "8:0\n");
  root.put("/sys/block/sda/size", "1000\n");
  root.put("/sys/block/sda/queue/scheduler", "none [bfq]\n");
}

/// A host with systemd, cgroup v2, and everything there is.
void put_v2_host(const FakeRoot& root) {
  put_common(root);
  root.put("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  root.put("/proc/self/cgroup", "0::/system.slice/flowcond.service\n");
  root.make_folder("/run/systemd/system");
  const std::string top = "/sys/fs/cgroup/";
  root.put(top + "cgroup.controllers", "cpuset cpu io memory pids\n");
  root.put(top + "cgroup.subtree_control", "cpu io memory pids\n");
  for (const char* file : {"cpu.weight", "cpu.max", "cpu.stat", "cpu.pressure", "memory.current",
                           "memory.high", "io.stat", "io.weight", "io.bfq.weight", "io.max"}) {
    root.put(top + "system.slice/" + file, "0\n");
  }
  root.make_folder(top + "aaa.slice");  // the first by name, but not one that containers are in
}

void put_v1_host(const FakeRoot& root) {
  put_common(root);
  root.put("/proc/self/mountinfo",
           "1 1 0:1 / /cg/cpu rw - cgroup c rw,cpu,cpuacct\n2 1 0:2 / /cg/memory rw - cgroup c "
           "rw,memory\n3 1 0:3 / /cg/blkio rw - cgroup c rw,blkio\n");
  root.put("/proc/self/cgroup", "1:cpu:/\n");
  for (const char* file :
       {"cpu/docker/cpu.shares", "cpu/docker/cpu.cfs_quota_us", "cpu/docker/cpuacct.usage",
        "memory/docker/memory.usage_in_bytes", "memory/docker/memory.soft_limit_in_bytes",
        "blkio/docker/blkio.throttle.io_service_bytes",
        "blkio/docker/blkio.throttle.read_bps_device", "blkio/docker/blkio.bfq.weight"}) {
    root.put(std::string("/cg/") + file, "0\n");
  }
}

ProbePlaces places_in(const FakeRoot& root) {
  ProbePlaces places;
  places.root = root.path();
  places.asks_systemd = false;
  places.nvml = FLOWCON_FAKE_NVML;
  return places;
}

Ability ability_of(const FakeRoot& root, const std::string& name) {
  const RootCgroups fs(root);
  for (const Ability& ability : probe_abilities(fs, places_in(root))) {
    if (ability.name == name) return ability;
  }
  FAIL("no ability " << name);
  return {};
}

std::vector<std::string> missing(const FakeRoot& root) {
  const RootCgroups fs(root);
  std::vector<std::string> names;
  for (const Ability& ability : probe_abilities(fs, places_in(root))) {
    INFO(ability.name);
    CHECK_FALSE(ability.detail.empty());
    if (ability.is_there) CHECK(ability.advice.empty());
    if (!ability.is_there) names.push_back(ability.name);
  }
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a v2 host with everything lacks nothing but the bus that was not asked") {
  const FakeRoot root;
  put_v2_host(root);
  CHECK(missing(root) == Names{"systemd"});
  CHECK(ability_of(root, "cgroups") == Ability{"cgroups", true, "v2, cgroup2 at /sys/fs/cgroup"});
  CHECK(ability_of(root, "cpu quota") ==
        Ability{"cpu quota", true, "/sys/fs/cgroup/system.slice/cpu.max"});
  CHECK(ability_of(root, "io weight") ==
        Ability{"io weight", true, "io.bfq.weight: BFQ schedules sda"});
}

TEST_CASE("a v1 host without systemd has everything else") {
  const FakeRoot root;
  put_v1_host(root);
  CHECK(missing(root) == Names{"systemd"});
  CHECK(ability_of(root, "cgroups").detail == "v1, v1 controllers: blkio cpu cpuacct memory");
  CHECK(ability_of(root, "memory soft limit").detail ==
        "/cg/memory/docker/memory.soft_limit_in_bytes");
  CHECK(ability_of(root, "io weight").detail == "blkio.bfq.weight: BFQ schedules sda");
  CHECK(ability_of(root, "systemd").detail.find("does not run this host") != std::string::npos);
}

TEST_CASE("files are looked at where this engine has its containers") {
  const FakeRoot root;
  put_v1_host(root);
  root.put("/cg/cpu/other/docker/cpu.shares", "0\n");
  root.put("/cg/docker/cpu.shares", "0\n");
  ProbePlaces places = places_in(root);
  places.parent = GENERATE("other/docker", "gone", "../docker");
  const RootCgroups fs(root);
  const std::string group = places.parent == "other/docker" ? "other/docker" : "docker";
  CHECK(probe_abilities(fs, places)[1].detail == "/cg/cpu/" + group + "/cpu.shares");
}

TEST_CASE("a controller that is not offered, and one that is not handed on, are told apart") {
  const FakeRoot root;
  put_v2_host(root);
  root.put("/sys/fs/cgroup/cgroup.controllers", "cpu io\n");
  root.put("/sys/fs/cgroup/cgroup.subtree_control", "cpu\n");
  CHECK(missing(root) == Names{"memory", "memory soft limit", "io", "systemd"});
  CHECK(ability_of(root, "memory").advice.find("cgroup_enable=memory") != std::string::npos);
  CHECK(ability_of(root, "io").advice == "echo +io > /sys/fs/cgroup/cgroup.subtree_control");
}

TEST_CASE("a kernel without a feature says which one, and the rest is there") {
  const FakeRoot root;
  put_v2_host(root);
  for (const char* file : {"cpu.max", "memory.high", "io.max", "cpu.pressure"}) {
    root.remove(std::string("/sys/fs/cgroup/system.slice/") + file);
  }
  CHECK(missing(root) == Names{"cpu quota", "memory soft limit", "io caps", "systemd"});
  CHECK(ability_of(root, "cpu quota").advice.find("CONFIG_CFS_BANDWIDTH") != std::string::npos);
}

TEST_CASE("a disk without a scheduler of weights comes with the command that gives it one") {
  const FakeRoot root;
  put_v2_host(root);
  root.put("/sys/block/sda/queue/scheduler", "[none] mq-deadline bfq\n");
  const Ability can = ability_of(root, "io weight");
  CHECK_FALSE(can.is_there);
  CHECK(can.detail == "no block device has a scheduler that uses weights (sda: none)");
  CHECK(can.advice == "echo bfq > /sys/block/sda/queue/scheduler");
  root.put("/sys/block/sda/queue/scheduler", "[none] mq-deadline\n");
  CHECK(ability_of(root, "io weight").advice.find("modprobe bfq") == 0);
  root.put("/sys/fs/cgroup/io.cost.qos", "8:0 enable=1 ctrl=auto\n");
  CHECK(ability_of(root, "io weight").detail == "io.weight: iocost controls sda");
}

TEST_CASE("a host without PSI is told how to boot") {
  const FakeRoot root;
  put_v2_host(root);
  root.remove("/proc/pressure");
  const Ability pressure = ability_of(root, "pressure");
  CHECK_FALSE(pressure.is_there);
  CHECK(pressure.advice.find("psi=1") != std::string::npos);
}

TEST_CASE("a user without rights is told which, and what was delegated counts") {
  const FakeRoot root;
  put_v2_host(root);
  root.put("/proc/self/status", "Name:\tflowcond\nUid:\t1000\t1000\t1000\t1000\n");
  root.put("/proc/self/cgroup", "0::/user.slice/user@1000.service/flowcond.service\n");
  const std::string own = "/sys/fs/cgroup/user.slice/user@1000.service/flowcond.service/";
  root.put(own + "cgroup.controllers", "memory pids\n");
  CHECK(ability_of(root, "root").detail == "not root");
  const Ability some = ability_of(root, "delegation");
  CHECK_FALSE(some.is_there);
  CHECK(some.detail.find("not handed to") == 0);
  CHECK(some.detail.find(": cpu io") != std::string::npos);
  CHECK(some.advice.find("Delegate=cpu memory io") != std::string::npos);
  root.put(own + "cgroup.controllers", "cpu memory io pids\n");
  CHECK(ability_of(root, "delegation").is_there);
}

TEST_CASE("root of a user namespace is not root of the host") {
  const FakeRoot root;
  put_v1_host(root);
  root.put("/proc/self/uid_map", "0 1000 1\n1 100000 65536\n");
  CHECK(ability_of(root, "root").detail == "root of a user namespace only (rootless)");
  CHECK(ability_of(root, "delegation").detail == "cgroup v1 cannot be delegated safely");
}

TEST_CASE("a daemon in a container is told so") {
  struct Row {
    const char* cgroup;
    const char* pid;
    const char* detail;
  };
  const Row rows[] = {
      {"cgroup:[4026532001]", "pid:[4026532002]",
       "in a container: own process ids and cgroup namespace"},
      {"cgroup:[4026531835]", "pid:[4026532002]", "in a container: own process ids"},
      {"cgroup:[4026532001]", "pid:[4026531836]", "in a container: own cgroup namespace"},
  };
  for (const Row& row : rows) {
    const FakeRoot root;
    put_v2_host(root);
    root.remove("/proc/self/ns");
    root.link("/proc/self/ns/cgroup", row.cgroup);
    root.link("/proc/self/ns/pid", row.pid);
    const Ability host = ability_of(root, "host");
    CHECK_FALSE(host.is_there);
    CHECK(host.detail == row.detail);
    CHECK_FALSE(host.advice.empty());
  }
}

TEST_CASE("without any mount everything that needs one is missing, with a reason") {
  const FakeRoot root;
  put_common(root);
  root.put("/proc/self/mountinfo", "");
  CHECK(missing(root) == Names{"cgroups", "cpu", "cpu use", "cpu quota", "memory",
                               "memory soft limit", "io", "io weight", "io caps", "systemd"});
}

TEST_CASE("GPUs are named, and a host without says which way") {
  const ProbePlaces places = places_in(FakeRoot());
  CHECK(probe_gpu(places) == Ability{"gpu", true, "Fake GPU 0, Fake GPU 1"});
  ::setenv("FAKE_NVML", "no driver", 1);
  const Ability off = probe_gpu(places);
  ::setenv("FAKE_NVML", "no gpu", 1);
  const Ability none = probe_gpu(places);
  ::unsetenv("FAKE_NVML");
  CHECK_FALSE(off.is_there);
  CHECK(off.advice == "modprobe nvidia, then restart flowcond");
  CHECK(none == Ability{"gpu", false, "the driver is there and finds no GPU"});
}

TEST_CASE("on a host without a single group no limit is checked") {
  const FakeRoot root;
  put_v2_host(root);
  root.remove("/sys/fs/cgroup/system.slice");
  root.remove("/sys/fs/cgroup/aaa.slice");
  CHECK(ability_of(root, "cpu") ==
        Ability{"cpu", false, "cpu at /sys/fs/cgroup; there is no control group to check it in", "",
                false});
  for (const char* name : {"cpu quota", "memory soft limit", "io", "io weight", "io caps"}) {
    INFO(name);
    CHECK_FALSE(ability_of(root, name).is_checked);
  }
}

TEST_CASE("disks that cannot be listed are not checked for weights") {
  const FakeRoot root;
  put_v2_host(root);
  root.remove("/sys/block");
  CHECK_FALSE(ability_of(root, "io weight").is_checked);
  CHECK(ability_of(root, "io caps").is_there);
}

TEST_CASE("systemd that answers is there with its version, and one that does not has a reason") {
  const FakeRoot root;
  put_v2_host(root);
  const RootCgroups fs(root);
  ProbePlaces places;
  places.root = root.path();
  places.nvml = FLOWCON_FAKE_NVML;
  const auto systemd_of = [&] {
    const auto all = probe_abilities(fs, places);
    return *std::find_if(all.begin(), all.end(),
                         [](const Ability& ability) { return ability.name == "systemd"; });
  };
  {
    FakeSystemd bus;
    const Ability there = systemd_of();
    CHECK(there.is_there);
    CHECK(there.detail.find("systemd 252.39-1~deb12u2 answers") == 0);
  }
  ::setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1);
  const Ability silent = systemd_of();
  ::unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
  CHECK_FALSE(silent.is_there);
  CHECK(silent.detail.find("no system bus") != std::string::npos);
  CHECK(silent.advice.find("daemon-reload") != std::string::npos);
}

}  // namespace flowcon::cgroups
