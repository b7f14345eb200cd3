// SPDX-License-Identifier: Apache-2.0
// Rendering, writing and reading one group's CPU setting, v1 and v2.
#include "cgroups/cpu.h"

#include <cerrno>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/fake_cgroups.h"

namespace flowcon::cgroups {

using flowcon::test::FakeCgroups;
using Writes = std::vector<Write>;

namespace {

const Group kGroup{"docker/4f", "docker/4f", "docker/4f", ""};
constexpr std::nullopt_t kNone = std::nullopt;

FakeCgroups v1_host() { return FakeCgroups(Mode::v1, {{"docker/4f", FakeCgroups::v1_group()}}); }
FakeCgroups v2_host() { return FakeCgroups(Mode::v2, {{"docker/4f", FakeCgroups::v2_group()}}); }

}  // namespace

TEST_CASE("rendering writes only what differs, in the order the kernel accepts") {
  struct Row {
    CpuSetting from;
    CpuSetting to;
    bool is_v2;
    Writes writes;
  };
  const Row rows[] = {
      // v1: nothing, weight, quota on, quota changed, quota off
      {{1024, kNone, 100000}, {1024, kNone, 100000}, false, {}},
      {{1024, kNone, 100000}, {512, kNone, 100000}, false, {{"cpu", "cpu.shares", "512"}}},
      {{1024, kNone, 100000}, {1024, 50000, 100000}, false, {{"cpu", "cpu.cfs_quota_us", "50000"}}},
      {{1024, 50000, 100000}, {1024, 20000, 100000}, false, {{"cpu", "cpu.cfs_quota_us", "20000"}}},
      {{1024, 50000, 100000}, {1024, kNone, 100000}, false, {{"cpu", "cpu.cfs_quota_us", "-1"}}},
      // v1, new period: the quota is lifted first and set last
      {{1024, kNone, 100000},
       {1024, 25000, 50000},
       false,
       {{"cpu", "cpu.cfs_period_us", "50000"}, {"cpu", "cpu.cfs_quota_us", "25000"}}},
      {{1024, 50000, 100000},
       {1024, 50000, 50000},
       false,
       {{"cpu", "cpu.cfs_quota_us", "-1"},
        {"cpu", "cpu.cfs_period_us", "50000"},
        {"cpu", "cpu.cfs_quota_us", "50000"}}},
      {{1024, 50000, 100000},
       {1024, kNone, 50000},
       false,
       {{"cpu", "cpu.cfs_quota_us", "-1"}, {"cpu", "cpu.cfs_period_us", "50000"}}},
      {{1024, 50000, 100000},
       {2, 1000, 100000},
       false,
       {{"cpu", "cpu.shares", "2"}, {"cpu", "cpu.cfs_quota_us", "1000"}}},
      // v1, out of range
      {{1024, kNone, 100000}, {1, kNone, 100000}, false, {{"cpu", "cpu.shares", "2"}}},
      {{1024, kNone, 100000}, {262145, kNone, 100000}, false, {{"cpu", "cpu.shares", "262144"}}},
      {{1024, kNone, 100000}, {1024, 999, 100000}, false, {{"cpu", "cpu.cfs_quota_us", "1000"}}},
      // v2
      {{100, kNone, 100000}, {100, kNone, 100000}, true, {}},
      {{100, kNone, 100000}, {25, kNone, 100000}, true, {{"cpu", "cpu.weight", "25"}}},
      {{100, kNone, 100000}, {100, 50000, 100000}, true, {{"cpu", "cpu.max", "50000 100000"}}},
      {{100, 50000, 100000}, {100, kNone, 100000}, true, {{"cpu", "cpu.max", "max 100000"}}},
      {{100, 50000, 100000}, {100, 50000, 20000}, true, {{"cpu", "cpu.max", "50000 20000"}}},
      {{100, kNone, 100000}, {10001, kNone, 100000}, true, {{"cpu", "cpu.weight", "10000"}}},
      // a group with cpu.idle has no weight to change
      {{0, kNone, 100000}, {100, kNone, 100000}, true, {}},
      {{100, kNone, 100000}, {0, kNone, 100000}, true, {}},
  };
  for (const Row& row : rows) {
    INFO("row " << (&row - rows));
    CHECK(render(row.from, row.to, row.is_v2) == row.writes);
  }
}

TEST_CASE("a setting is clamped to what the kernel can hold") {
  CHECK(clamp_to_kernel({1, 1, 1}, false) == CpuSetting{2, 1000, 1000});
  CHECK(clamp_to_kernel({1, 1, 2000000}, true) == CpuSetting{1, 1000, 1000000});
  CHECK(clamp_to_kernel({300000, kNone, 100000}, false) == CpuSetting{262144, kNone, 100000});
  CHECK(clamp_to_kernel({0, kNone, 100000}, true).weight == 0);
}

TEST_CASE("a v1 setting is written and read back") {
  FakeCgroups fs = v1_host();
  REQUIRE(write_cpu(fs, kGroup, {410, 50000, 100000}).has_value());
  CHECK(fs.writes() ==
        std::vector<FakeCgroups::Written>{{"docker/4f", "cpu.shares", "410"},
                                          {"docker/4f", "cpu.cfs_quota_us", "50000"}});
  CHECK(read_cpu(fs, kGroup).value() == CpuSetting{410, 50000, 100000});
}

TEST_CASE("a v2 setting is written and read back") {
  FakeCgroups fs = v2_host();
  REQUIRE(write_cpu(fs, kGroup, {40, 50000, 100000}).has_value());
  CHECK(fs.text("docker/4f", "cpu.max") == "50000 100000");
  CHECK(read_cpu(fs, kGroup).value() == CpuSetting{40, 50000, 100000});
}

TEST_CASE("a setting that is there already is not written") {
  FakeCgroups fs = v1_host();
  REQUIRE(write_cpu(fs, kGroup, {1024, kNone, 100000}).has_value());
  CHECK(fs.writes().empty());
}

TEST_CASE("a weight beyond the kernel's range is written clamped and is no failure") {
  FakeCgroups fs = v1_host();
  REQUIRE(write_cpu(fs, kGroup, {1, kNone, 100000}).has_value());
  CHECK(fs.text("docker/4f", "cpu.shares") == "2");
}

TEST_CASE("a container that dies before the write is ESTALE") {
  FakeCgroups fs = v1_host();
  fs.remove("docker/4f");
  const auto done = write_cpu(fs, kGroup, {410, kNone, 100000});
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().code.value() == ESTALE);
}

TEST_CASE("a container that dies between two writes is ESTALE, and what was applied is told") {
  FakeCgroups fs = v1_host();
  fs.remove_before_write(2, "docker/4f");
  const auto done = write_cpu(fs, kGroup, {410, 50000, 100000});
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().code.value() == ESTALE);
  CHECK(done.error().message().find("applied cpu.shares=410, with the group gone") !=
        std::string::npos);
}

TEST_CASE("a controller that is not enabled is ENOENT") {
  FakeCgroups v1 = v1_host();
  v1.remove_file("docker/4f", "cpu.shares");
  CHECK(write_cpu(v1, kGroup, {410, kNone, 100000}).error().code.value() == ENOENT);
  FakeCgroups v2 = v2_host();
  v2.remove_file("docker/4f", "cpu.weight");
  CHECK(read_cpu(v2, kGroup).error().code.value() == ENOENT);
}

TEST_CASE("a kernel without bandwidth control can still hold weights") {
  FakeCgroups fs = v1_host();
  fs.remove_file("docker/4f", "cpu.cfs_quota_us");
  fs.remove_file("docker/4f", "cpu.cfs_period_us");
  REQUIRE(write_cpu(fs, kGroup, {410, kNone, 100000}).has_value());
  CHECK(fs.text("docker/4f", "cpu.shares") == "410");
  CHECK(write_cpu(fs, kGroup, {410, 50000, 100000}).error().code.value() == ENOENT);
}

TEST_CASE("a failure halfway is told and undone") {
  FakeCgroups fs = v1_host();
  fs.fail_write(2, EINVAL);
  const auto done = write_cpu(fs, kGroup, {410, 50000, 100000});
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().code.value() == EINVAL);
  CHECK(done.error().message().find("applied cpu.shares=410, undone") != std::string::npos);
  CHECK(done.error().message().find("above the parent group's") != std::string::npos);
  CHECK(read_cpu(fs, kGroup).value() == CpuSetting{1024, kNone, 100000});
}

TEST_CASE("a quota that is refused beside a larger burst says so, and any other one does not") {
  const std::string hint = " (a quota below cpu.max.burst, 20000 us, is refused: lower the burst)";
  for (const std::int64_t quota_us : {10000, 20000}) {
    FakeCgroups fs = v2_host();
    fs.set("docker/4f", "cpu.max.burst", "20000");
    fs.fail_write(1, EINVAL);
    const auto done = write_cpu(fs, kGroup, {100, quota_us, 100000});
    REQUIRE_FALSE(done.has_value());
    CHECK((done.error().message().find(hint) != std::string::npos) == (quota_us < 20000));
  }
}

TEST_CASE("a failed change of period does not leave the container without its ceiling") {
  FakeCgroups fs = v1_host();
  fs.set("docker/4f", "cpu.cfs_quota_us", "50000");
  fs.fail_write(2, EIO);
  REQUIRE_FALSE(write_cpu(fs, kGroup, {1024, 50000, 50000}).has_value());
  CHECK(read_cpu(fs, kGroup).value() == CpuSetting{1024, 50000, 100000});
}

TEST_CASE("when undoing fails too, the message says so") {
  FakeCgroups fs = v1_host();
  fs.fail_write(2, EINVAL);
  fs.fail_write(3, EPERM);
  const auto done = write_cpu(fs, kGroup, {410, 50000, 100000});
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().message().find("applied cpu.shares=410, not undone") != std::string::npos);
}

TEST_CASE("a failure of the first write says that nothing was applied") {
  FakeCgroups fs = v2_host();
  fs.fail_write(1, EPERM);
  const auto done = write_cpu(fs, kGroup, {40, 50000, 100000});
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().code.value() == EPERM);
  CHECK(done.error().message().find("nothing applied") != std::string::npos);
}

TEST_CASE("a kernel that holds something else afterwards is EIO with both settings") {
  FakeCgroups fs = v2_host();
  fs.ignore_writes(true);
  const auto done = write_cpu(fs, kGroup, {40, kNone, 100000});
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().code.value() == EIO);
  CHECK(done.error().message().find("weight 40, quota none") != std::string::npos);
  CHECK(done.error().message().find("weight 100, quota none") != std::string::npos);
}

TEST_CASE("files that hold no number are EBADMSG, whatever is in them") {
  for (const char* text : {"", "abc", "12x", "-5", "99999999999999999999999", "1 2 3", "\x1b[2J"}) {
    INFO(text);
    FakeCgroups fs = v1_host();
    fs.set("docker/4f", "cpu.shares", text);
    const auto setting = read_cpu(fs, kGroup);
    REQUIRE_FALSE(setting.has_value());
    CHECK(setting.error().code.value() == EBADMSG);
  }
  for (const char* text : {"", "max x", "50000 100000 7", "maximum 100000"}) {
    INFO(text);
    FakeCgroups fs = v2_host();
    fs.set("docker/4f", "cpu.max", text);
    CHECK_FALSE(read_cpu(fs, kGroup).has_value());
  }
}

TEST_CASE("CPU use is nanoseconds in both versions") {
  FakeCgroups v1 = v1_host();
  v1.set("docker/4f", "cpuacct.usage", "1234567891");
  CHECK(read_cpu_usage(v1, kGroup).value() == 1234567891);
  FakeCgroups v2 = v2_host();
  v2.set("docker/4f", "cpu.stat", "nr_periods 1\nusage_usec 1234567\nuser_usec 7");
  CHECK(read_cpu_usage(v2, kGroup).value() == 1234567000);
}

TEST_CASE("the CPU use of all programs is that of the root group") {
  FakeCgroups v1 = v1_host();
  v1.set("", "cpuacct.usage", "5000000001");
  CHECK(read_host_cpu_usage(v1).value() == 5000000001);
  FakeCgroups v2 = v2_host();
  CHECK_FALSE(read_host_cpu_usage(v2).has_value());
  v2.set("", "cpu.stat", "usage_usec 5000000\nuser_usec 7");
  CHECK(read_host_cpu_usage(v2).value() == 5000000000);
}

TEST_CASE("a cpu.stat without usage_usec is EBADMSG") {
  FakeCgroups fs = v2_host();
  fs.set("docker/4f", "cpu.stat", "usage_usec_x 1\nxusage_usec 2\nusage_usec");
  CHECK(read_cpu_usage(fs, kGroup).error().code.value() == EBADMSG);
}

TEST_CASE("a container without a cpuacct group has no CPU use to read") {
  const FakeCgroups fs = v1_host();
  CHECK(read_cpu_usage(fs, {"docker/4f", "", "", ""}).error().code.value() == ENOENT);
}

TEST_CASE("a period without a quota limits nothing, so that systemd's own is no drift") {
  CHECK(limits_alike({44, std::nullopt, 50000}, {44, std::nullopt, 100000}));
  CHECK_FALSE(limits_alike({44, 20000, 50000}, {44, 20000, 100000}));
  CHECK_FALSE(limits_alike({44, 20000, 100000}, {44, std::nullopt, 100000}));
  CHECK_FALSE(limits_alike({44, 20000, 100000}, {44, 20001, 100000}));
  CHECK_FALSE(limits_alike({44, std::nullopt, 100000}, {45, std::nullopt, 100000}));
}

TEST_CASE("a quota is near another one where a whole percent of a core is not between them") {
  CHECK(quotas_near({44, 33333, 100000}, {44, 33000, 100000}));
  CHECK(quotas_near({44, 123400, 100000}, {1, 124000, 100000}));
  CHECK(quotas_near({44, 16666, 50000}, {44, 33000, 100000}));
  CHECK(quotas_near({44, std::nullopt, 50000}, {44, std::nullopt, 100000}));
  CHECK_FALSE(quotas_near({44, 33000, 100000}, {44, 34001, 100000}));
  CHECK_FALSE(quotas_near({44, 33000, 100000}, {44, std::nullopt, 100000}));
}

}  // namespace flowcon::cgroups
