// SPDX-License-Identifier: Apache-2.0
// Block I/O of one group: use, weight and caps, v1 and v2.
#include "cgroups/io.h"

#include <cerrno>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/fake_cgroups.h"

namespace flowcon::cgroups {

using test::FakeCgroups;
using Writes = std::vector<Write>;

namespace {

const Group kGroup{"docker/4f", "docker/4f", "docker/4f", "", "docker/4f"};
constexpr std::nullopt_t kNone = std::nullopt;

FakeCgroups host_of(Mode mode) {
  return FakeCgroups(
      mode, {{"docker/4f", mode == Mode::v2 ? FakeCgroups::v2_group() : FakeCgroups::v1_group()}});
}

IoMechanism mechanism_of(WeightFile weight) {
  IoMechanism mechanism;
  mechanism.weight = weight;
  mechanism.has_caps = true;
  mechanism.is_v2 = weight == WeightFile::io_weight || weight == WeightFile::io_bfq_weight;
  return mechanism;
}

const IoMechanism kIoCost = mechanism_of(WeightFile::io_weight);
const IoMechanism kBfq2 = mechanism_of(WeightFile::io_bfq_weight);
const IoMechanism kBfq1 = mechanism_of(WeightFile::blkio_bfq_weight);
const IoMechanism kCfq = mechanism_of(WeightFile::blkio_weight);

}  // namespace

TEST_CASE("io.stat is taken apart by device") {
  CHECK(parse_io_stat("8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6\n"
                      "253:1 rbytes=7 wbytes=0 rios=1 wios=0 dbytes=0 dios=0 cost.usage=9\n")
            .value() == IoUses{{"8:0", {1, 2}}, {"253:1", {7, 0}}});
  CHECK(parse_io_stat("").value().empty());
  // devices without I/O, alone in a line or in front of another
  CHECK(parse_io_stat("7:0 \n253:0 8:0 rbytes=1 wbytes=2 rios=3 wios=4\n").value() ==
        IoUses{{"8:0", {1, 2}}});
}

TEST_CASE("a text that is not io.stat is EBADMSG") {
  for (const char* text : {"rubbish", "rbytes=5", "8:0 rbytes=x", "8:0 rbytes=-1", "8:0 rbytes=",
                           "8:0 wbytes=99999999999999999999999", "8: rbytes=1", "\x1b[2J"}) {
    INFO(text);
    CHECK(parse_io_stat(text).error().code.value() == EBADMSG);
  }
}

TEST_CASE("v1's use is from the first file that is there") {
  FakeCgroups fs = host_of(Mode::v1);
  CHECK(read_io_use(fs, kGroup).value().empty());
  fs.set("docker/4f", "blkio.throttle.io_service_bytes_recursive",
         "8:0 Read 100\n8:0 Write 200\n8:0 Sync 300\n8:0 Async 0\n8:0 Discard 7\n8:0 Total 300\n"
         "Total 300");
  CHECK(read_io_use(fs, kGroup).value() == IoUses{{"8:0", {100, 200}}});

  fs.remove_file("docker/4f", "blkio.throttle.io_service_bytes_recursive");
  fs.set("docker/4f", "blkio.throttle.io_service_bytes", "8:0 Read 10\nTotal 10");
  CHECK(read_io_use(fs, kGroup).value() == IoUses{{"8:0", {10, 0}}});

  fs.remove_file("docker/4f", "blkio.throttle.io_service_bytes");
  fs.set("docker/4f", "blkio.bfq.io_service_bytes_recursive", "8:0 Write 20\nTotal 20");
  CHECK(read_io_use(fs, kGroup).value() == IoUses{{"8:0", {0, 20}}});

  fs.remove_file("docker/4f", "blkio.bfq.io_service_bytes_recursive");
  CHECK(read_io_use(fs, kGroup).error().code.value() == ENOENT);
}

TEST_CASE("a v1 file of use that holds something else is EBADMSG") {
  for (const char* text : {"8:0 Read", "8:0 Read x", "x Read 1", "8:0 Read 1 2", "\x1b[2J"}) {
    INFO(text);
    FakeCgroups fs = host_of(Mode::v1);
    fs.set("docker/4f", "blkio.throttle.io_service_bytes_recursive", text);
    CHECK(read_io_use(fs, kGroup).error().code.value() == EBADMSG);
  }
}

TEST_CASE("a group that died, and a container without an I/O group, have no use") {
  FakeCgroups fs = host_of(Mode::v2);
  CHECK(read_io_use(fs, {"docker/4f", "", "", ""}).error().code.value() == ENOENT);
  CHECK(read_io(fs, {"docker/4f", "", "", ""}, kIoCost).error().code.value() == ENOENT);
  fs.remove("docker/4f");
  CHECK(read_io_use(fs, kGroup).error().code.value() == ESTALE);
}

TEST_CASE("rendering writes only what differs, in the spelling of the mechanism") {
  struct Row {
    IoSetting from;
    IoSetting to;
    IoMechanism mechanism;
    Writes writes;
  };
  const Row rows[] = {
      {{100, {}}, {100, {}}, kIoCost, {}},
      {{100, {}}, {250, {}}, kIoCost, {{"io", "io.weight", "default 250"}}},
      {{100, {}}, {250, {}}, kBfq2, {{"io", "io.bfq.weight", "250"}}},
      {{100, {}}, {250, {}}, kBfq1, {{"blkio", "blkio.bfq.weight", "250"}}},
      {{500, {}}, {250, {}}, kCfq, {{"blkio", "blkio.weight", "250"}}},
      // clamped
      {{100, {}}, {99999, {}}, kIoCost, {{"io", "io.weight", "default 10000"}}},
      {{100, {}}, {99999, {}}, kBfq2, {{"io", "io.bfq.weight", "1000"}}},
      {{100, {}}, {0, {}}, kBfq1, {{"blkio", "blkio.bfq.weight", "1"}}},
      {{500, {}}, {0, {}}, kCfq, {{"blkio", "blkio.weight", "10"}}},
      {{1000, {}}, {99999, {}}, kBfq1, {}},
      // no weight on either side, or no file
      {{kNone, {}}, {250, {}}, kIoCost, {}},
      {{100, {}}, {kNone, {}}, kIoCost, {}},
      {{100, {}}, {250, {}}, IoMechanism{}, {}},
      // caps
      {{100, {}}, {100, {{"8:0", {5, 6}}}}, kIoCost, {{"io", "io.max", "8:0 rbps=5 wbps=6"}}},
      {{100, {{"8:0", {5, 6}}}},
       {100, {{"8:0", {5, 7}}}},
       kIoCost,
       {{"io", "io.max", "8:0 wbps=7"}}},
      {{100, {{"8:0", {5, 6}}}}, {100, {}}, kIoCost, {{"io", "io.max", "8:0 rbps=max wbps=max"}}},
      {{100, {{"8:0", {}}}}, {100, {}}, kIoCost, {}},
      {{100, {{"8:0", {5, kNone, 9}}}},
       {100, {{"8:0", {6, kNone, 9}}}},
       kIoCost,
       {{"io", "io.max", "8:0 rbps=6"}}},
      {{100, {{"8:0", {5}}}},
       {100, {{"8:16", {kNone, 6}}}},
       kIoCost,
       {{"io", "io.max", "8:0 rbps=max"}, {"io", "io.max", "8:16 wbps=6"}}},
      {{100, {}},
       {100, {{"8:0", {5, 6, 7, 8}}}},
       kBfq1,
       {{"blkio", "blkio.throttle.read_bps_device", "8:0 5"},
        {"blkio", "blkio.throttle.write_bps_device", "8:0 6"},
        {"blkio", "blkio.throttle.read_iops_device", "8:0 7"},
        {"blkio", "blkio.throttle.write_iops_device", "8:0 8"}}},
      {{100, {{"8:0", {5}}}},
       {100, {}},
       kBfq1,
       {{"blkio", "blkio.throttle.read_bps_device", "8:0 0"}}},
  };
  for (const Row& row : rows) {
    INFO("row " << (&row - rows));
    CHECK(render(row.from, row.to, row.mechanism) == row.writes);
  }
}

TEST_CASE("no write is longer than a control file takes, however large its numbers") {
  constexpr std::uint64_t kHuge = 18446744073709551615ULL;
  const IoSetting wanted{100, {{"4294967295:4294967295", {kHuge, kHuge, kHuge, kHuge}}}};
  CHECK(render({100, {}}, wanted, kIoCost).size() == 2);
  FakeCgroups fs = host_of(Mode::v2);
  REQUIRE(write_io(fs, kGroup, wanted, kIoCost).has_value());
  CHECK(read_io(fs, kGroup, kIoCost).value() == wanted);
}

TEST_CASE("a setting is written, read back, and put back as it was, in every mechanism") {
  for (const IoMechanism& mechanism : {kIoCost, kBfq2, kBfq1, kCfq}) {
    INFO(name(mechanism.weight));
    FakeCgroups fs = host_of(mechanism.is_v2 ? Mode::v2 : Mode::v1);
    if (mechanism.weight == WeightFile::blkio_weight) fs.set("docker/4f", "blkio.weight", "500");
    const IoSetting before = read_io(fs, kGroup, mechanism).value();
    CHECK(before == IoSetting{default_weight(mechanism.weight), {}});
    const IoSetting wanted{321, {{"8:0", {1048576, 2097152}}, {"8:16", {kNone, kNone, 100}}}};
    const auto done = write_io(fs, kGroup, wanted, mechanism);
    INFO((done ? std::string() : done.error().message()));
    REQUIRE(done.has_value());
    CHECK(read_io(fs, kGroup, mechanism).value() == wanted);
    fs.forget_writes();
    REQUIRE(write_io(fs, kGroup, wanted, mechanism).has_value());
    CHECK(fs.writes().empty());
    REQUIRE(write_io(fs, kGroup, before, mechanism).has_value());
    CHECK(limits_alike(read_io(fs, kGroup, mechanism).value(), before));
  }
}

TEST_CASE("weights are read in both spellings, and devices of their own do not confuse them") {
  FakeCgroups fs = host_of(Mode::v2);
  for (const char* text : {"42", "default 42", "default 42\n8:0 77", "8:0 77\ndefault 42"}) {
    INFO(text);
    fs.set("docker/4f", "io.bfq.weight", text);
    CHECK(read_io(fs, kGroup, kBfq2).value().weight == 42);
  }
  for (const char* text : {"", "default", "x", "default x", "8:0 77", "1 2 3"}) {
    INFO(text);
    fs.set("docker/4f", "io.bfq.weight", text);
    CHECK(read_io(fs, kGroup, kBfq2).error().code.value() == EBADMSG);
  }
}

TEST_CASE("caps that are not the kernel's spelling are EBADMSG") {
  for (const char* text : {"rbps=5", "8:0 rbps=x", "8:0 rbps=-1", "8:0 wbps=", "x"}) {
    INFO(text);
    FakeCgroups fs = host_of(Mode::v2);
    fs.set("docker/4f", "io.max", text);
    CHECK(read_io(fs, kGroup, kIoCost).error().code.value() == EBADMSG);
  }
  for (const char* text : {"8:0", "8:0 x", "8:0 1 2", "x 1"}) {
    INFO(text);
    FakeCgroups fs = host_of(Mode::v1);
    fs.set("docker/4f", "blkio.throttle.read_bps_device", text);
    CHECK(read_io(fs, kGroup, kBfq1).error().code.value() == EBADMSG);
  }
}

TEST_CASE("what cannot be a cap is refused before anything is written") {
  FakeCgroups fs = host_of(Mode::v2);
  for (const std::string device : {"", "sda", "8:0 rbps=1\n8:16", "8:0 ", ":", "99999999999:1"}) {
    INFO(device);
    CHECK(write_io(fs, kGroup, {100, {{device, {5}}}}, kIoCost).error().code.value() == EINVAL);
  }
  CHECK(write_io(fs, kGroup, {100, {{"8:0", {0}}}}, kIoCost).error().code.value() == EINVAL);
  CHECK(fs.writes().empty());
}

TEST_CASE("a cap on something without caps fails with the reason, and the rest is undone") {
  FakeCgroups fs = host_of(Mode::v1);
  fs.fail_write(2, ENODEV);
  const auto done = write_io(fs, kGroup, {50, {{"8:1", {1048576}}}}, kBfq1);
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().code.value() == ENODEV);
  CHECK(done.error().message().find("a partition has no limits") != std::string::npos);
  CHECK(done.error().message().find("applied blkio.bfq.weight=50, undone") != std::string::npos);
  CHECK(fs.text("docker/4f", "blkio.bfq.weight") == "100");
}

TEST_CASE("an I/O limit that the kernel did not take is EIO with both settings") {
  FakeCgroups fs = host_of(Mode::v2);
  fs.ignore_writes(true);
  const auto done = write_io(fs, kGroup, {50, {{"8:0", {1048576}}}}, kIoCost);
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().code.value() == EIO);
  CHECK(done.error().message().find("wrote weight 50, 8:0 rbps=1048576") != std::string::npos);
  CHECK(done.error().message().find("holds weight 100") != std::string::npos);
}

TEST_CASE("a kernel without throttling still has weights, one without weights still has caps") {
  FakeCgroups fs = host_of(Mode::v2);
  fs.remove_file("docker/4f", "io.max");
  CHECK(read_io(fs, kGroup, kIoCost).value() == IoSetting{100, {}});
  FakeCgroups other = host_of(Mode::v2);
  other.remove_file("docker/4f", "io.weight");
  IoMechanism caps;
  caps.has_caps = true;
  caps.is_v2 = true;
  CHECK(read_io(other, kGroup, caps).value() == IoSetting{});
  CHECK(write_io(other, kGroup, {kNone, {{"8:0", {5}}}}, caps).has_value());
}

}  // namespace flowcon::cgroups
