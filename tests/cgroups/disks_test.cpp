// SPDX-License-Identifier: Apache-2.0
// Which block devices there are, and which file of a group holds a weight that bites on them.
#include "cgroups/disks.h"

#include <cerrno>
#include <string>
#include <vector>

#include "cgroups/io.h"
#include "tests/support/catch.h"
#include "tests/support/fake_cgroups.h"
#include "tests/support/fake_root.h"

namespace flowcon::cgroups {

using test::FakeCgroups;
using test::FakeRoot;

namespace {

const Group kGroup{"docker/4f", "docker/4f", "docker/4f", "", "docker/4f"};

FakeCgroups host_of(Mode mode) {
  return FakeCgroups(
      mode, {{"docker/4f", mode == Mode::v2 ? FakeCgroups::v2_group() : FakeCgroups::v1_group()}});
}

BlockDevice device(const std::string& name, const std::string& number, const std::string& scheduler,
                   bool has_iocost = false) {
  return {name, number, scheduler, {scheduler}, has_iocost};
}

void put_disk(const FakeRoot& root, const std::string& name, const std::string& number,
              const std::string& scheduler, const std::string& size = "1000") {
  root.put("/sys/block/" + name + "/dev", number + "\n");
  root.put("/sys/block/" + name + "/size", size + "\n");
  if (!scheduler.empty()) root.put("/sys/block/" + name + "/queue/scheduler", scheduler + "\n");
}

}  // namespace

TEST_CASE("the active scheduler is the one in brackets") {
  BlockDevice disk;
  parse_schedulers("none [mq-deadline] kyber bfq ", disk);
  CHECK(disk.scheduler == "mq-deadline");
  CHECK(disk.schedulers == std::vector<std::string>{"none", "mq-deadline", "kyber", "bfq"});
  BlockDevice without;
  parse_schedulers("none", without);
  CHECK(without.scheduler.empty());
  BlockDevice odd;
  parse_schedulers("[] [a\x1b] \x01 [bfq]", odd);
  CHECK(odd.scheduler == "bfq");
  CHECK(odd.schedulers == std::vector<std::string>{"bfq"});
}

TEST_CASE("block devices are the disks with a size, in the order of their names") {
  const FakeRoot root;
  put_disk(root, "sdb", "8:16", "none [bfq]");
  put_disk(root, "sda", "8:0", "[none] mq-deadline");
  put_disk(root, "dm-0", "253:0", "");
  put_disk(root, "sr0", "11:0", "[none]", "0");
  put_disk(root, "loop0", "7:0", "[none]");
  put_disk(root, "zram0", "252:0", "");
  put_disk(root, "bad", "8;0", "[none]");
  root.make_folder("/sys/block/vanished");
  FakeCgroups fs(Mode::v2, {{"", {{"io.cost.qos", "8:0 enable=1 ctrl=user\n8:16 enable=0 x"}}}});
  const auto devices = read_block_devices(fs, root.path());
  REQUIRE(devices.has_value());
  CHECK(*devices == std::vector<BlockDevice>{{"dm-0", "253:0", "", {}, false},
                                             {"sda", "8:0", "none", {"none", "mq-deadline"}, true},
                                             {"sdb", "8:16", "bfq", {"none", "bfq"}, false}});
  const FakeRoot empty;
  CHECK(read_block_devices(fs, empty.path()).error().code.value() == ENOENT);
}

TEST_CASE("what a stack of devices moves is seen at its top and at its bottom, and counts once") {
  const FakeRoot root;
  root.make_folder("/sys/dev/block/8:0/slaves");
  root.put("/sys/dev/block/253:0/slaves/sda2", "");          // LUKS on a disk
  root.put("/sys/dev/block/253:0/dm-0p1/holders/dm-1", "");  // with a partition
  root.put("/sys/dev/block/253:1/slaves/dm-0", "");          // LVM on that
  root.make_folder("/sys/dev/block/253:1/holders");
  DeviceStacks stacks(root.path());
  CHECK(stacks.level_of("8:0") == StackLevel::bottom);
  CHECK(stacks.level_of("253:0") == StackLevel::middle);
  CHECK(stacks.level_of("253:1") == StackLevel::top);
  CHECK(stacks.level_of("7:0") == StackLevel::bottom);
  // The disk has a file system of its own, too.
  CHECK(moved_bytes({{"8:0", {110, 70}}, {"253:0", {100, 50}}, {"253:1", {100, 50}}}, stacks) ==
        180);
  // What dm-crypt writes is not seen below it.
  CHECK(moved_bytes({{"8:0", {100, 0}}, {"253:0", {100, 50}}, {"253:1", {100, 50}}}, stacks) ==
        150);
}

TEST_CASE("a device of a stack is looked at once until the stacks are forgotten") {
  const FakeRoot root;
  root.put("/sys/dev/block/253:0/slaves/sda2", "");
  root.put("/sys/dev/block/253:0/queue/scheduler", "[none]");
  DeviceStacks stacks(root.path());
  CHECK(stacks.level_of("253:0") == StackLevel::top);
  root.put("/sys/dev/block/253:0/holders/dm-1", "");
  CHECK(stacks.level_of("253:0") == StackLevel::top);
  stacks.forget();
  CHECK(stacks.level_of("253:0") == StackLevel::middle);
  root.remove("/sys/dev/block/253:0");
  stacks.forget();
  CHECK(stacks.level_of("253:0") == StackLevel::bottom);
}

TEST_CASE("the weight file is the one that bites on most devices, BFQ's where two are equal") {
  struct Row {
    Mode mode;
    std::vector<BlockDevice> devices;
    WeightFile weight;
    std::string reason;
  };
  const BlockDevice plain = device("sda", "8:0", "none");
  const BlockDevice bfq = device("sdb", "8:16", "bfq");
  const BlockDevice iocost = device("sdc", "8:32", "none", true);
  const BlockDevice iocost2 = device("sdd", "8:48", "mq-deadline", true);
  const std::string nobody = "no block device has a scheduler that uses weights";
  const Row rows[] = {
      {Mode::v2, {}, WeightFile::none, nobody},
      {Mode::v2, {plain}, WeightFile::none, nobody},
      {Mode::v2, {plain, bfq}, WeightFile::io_bfq_weight, "BFQ schedules sdb"},
      {Mode::v2, {plain, iocost}, WeightFile::io_weight, "iocost controls sdc"},
      {Mode::v2,
       {bfq, iocost},
       WeightFile::io_bfq_weight,
       "BFQ schedules sdb; without effect on sdc, which uses another weight"},
      {Mode::v2,
       {bfq, iocost, iocost2},
       WeightFile::io_weight,
       "iocost controls sdc, sdd; without effect on sdb, which uses another weight"},
      {Mode::v1, {plain}, WeightFile::none, nobody},
      {Mode::v1, {plain, bfq}, WeightFile::blkio_bfq_weight, "BFQ schedules sdb"},
      {Mode::v1, {iocost}, WeightFile::none, nobody},                       // iocost is v2's
      {Mode::v1, {device("sda", "8:0", "cfq")}, WeightFile::none, nobody},  // no file of CFQ there
  };
  for (const Row& row : rows) {
    INFO("row " << (&row - rows));
    const FakeCgroups fs = host_of(row.mode);
    const IoMechanism mechanism = probe_io(fs, kGroup, row.devices);
    CHECK(mechanism.weight == row.weight);
    CHECK(mechanism.weight_reason == row.reason);
    CHECK(mechanism.is_v2 == (row.mode == Mode::v2));
    CHECK(mechanism.has_caps);
    CHECK(mechanism.caps_reason.empty());
  }
}

TEST_CASE("CFQ of an old kernel has the weight file without a name in it") {
  FakeCgroups fs = host_of(Mode::v1);
  fs.remove_file("docker/4f", "blkio.bfq.weight");
  fs.set("docker/4f", "blkio.weight", "500");
  const IoMechanism mechanism = probe_io(fs, kGroup, {device("sda", "8:0", "cfq")});
  CHECK(mechanism.weight == WeightFile::blkio_weight);
  CHECK(mechanism.weight_reason == "CFQ schedules sda");
}

TEST_CASE("what a kernel or a group does not offer has a reason") {
  FakeCgroups fs = host_of(Mode::v2);
  for (const char* file : {"io.weight", "io.bfq.weight", "io.max"})
    fs.remove_file("docker/4f", file);
  const IoMechanism none = probe_io(fs, kGroup, {device("sdb", "8:16", "bfq")});
  CHECK(none.weight == WeightFile::none);
  CHECK(none.weight_reason.find("no weight file") != std::string::npos);
  CHECK_FALSE(none.has_caps);
  CHECK(none.caps_reason.find("io.max") != std::string::npos);
  fs.remove("docker/4f");
  CHECK(probe_io(fs, kGroup, {}).weight_reason == "there is no group of the io controller");
  CHECK(probe_io(fs, {"a", "a", "a", ""}, {}).caps_reason ==
        "there is no group of the io controller");
}

}  // namespace flowcon::cgroups
