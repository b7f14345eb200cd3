// SPDX-License-Identifier: Apache-2.0
// All limits of one group, written together.
#include "cgroups/setting.h"

#include <cerrno>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/fake_cgroups.h"

namespace flowcon::cgroups {

using test::FakeCgroups;

namespace {

const std::string kPath = "docker/4f";
const Group kGroup{kPath, kPath, kPath, "", kPath};

FakeCgroups host() { return FakeCgroups(Mode::v2, {{kPath, FakeCgroups::v2_group()}}); }

IoMechanism caps_alone() {
  IoMechanism mechanism;
  mechanism.has_caps = mechanism.is_v2 = true;
  return mechanism;
}

// What is there, with these caps on reading.
Setting capped(const FakeCgroups& fs, const std::map<std::string, std::uint64_t>& read_bytes) {
  Setting setting = read_setting(fs, kGroup, caps_alone()).value();
  for (const auto& [device, bytes] : read_bytes) setting.io.caps[device].read_bytes = bytes;
  return setting;
}

}  // namespace

TEST_CASE("a cap on a disk that was taken away keeps no cap on another one from being written") {
  FakeCgroups fs = host();
  const Setting from = capped(fs, {});
  const Setting to = capped(fs, {{"8:0", 1048576}, {"8:16", 2097152}});
  // 8:16 beside the other one, which is undone, and 8:16 alone.
  fs.fail_write(2, ENODEV);
  fs.fail_write(5, ENODEV);
  std::vector<std::string> gone;
  REQUIRE(write_setting(fs, kGroup, from, to, caps_alone(), false, &gone).has_value());
  CHECK(gone == std::vector<std::string>{"8:16"});
  CHECK(fs.text(kPath, "io.max") == "8:0 rbps=1048576 wbps=max riops=max wiops=max");
}

TEST_CASE("a cap that is refused for another reason is an error, and no disk is gone") {
  FakeCgroups fs = host();
  const Setting to = capped(fs, {{"8:0", 1048576}});
  fs.fail_write(1, ENODEV);
  fs.fail_write(2, EPERM);
  std::vector<std::string> gone;
  const auto done = write_setting(fs, kGroup, capped(fs, {}), to, caps_alone(), false, &gone);
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().code.value() == EPERM);
  CHECK(gone.empty());
}

TEST_CASE("what another program set becomes the original, each limit on its own") {
  const Setting original{{100, std::nullopt, 100000}, {}, {50, {}}};
  const Setting ours{{40, 30000, 100000}, {1 << 20}, {20, {{"8:0", {1 << 20}}}}};
  const auto taken = [&](const Setting& there) { return take_others(original, there, ours); };

  CHECK(taken(original) == original);
  CHECK(taken(ours) == original);

  Setting there = ours;
  there.cpu.weight = 200;
  CHECK(taken(there) == with_cpu(original, {200, std::nullopt, 100000}));
  there = ours;
  there.cpu.quota_us = 50000;
  there.cpu.period_us = 50000;
  CHECK(taken(there) == with_cpu(original, {100, 50000, 50000}));
  there = original;
  there.memory.soft_bytes = 1 << 21;
  CHECK(taken(there) == there);
  there = ours;
  there.io.caps["8:0"].read_bytes = 1 << 22;
  CHECK(taken(there) == Setting{original.cpu, original.memory, there.io});
}

TEST_CASE("a quota that systemd rounded and a cap that is none are nobody's") {
  const Setting original{{100, 123400, 100000}, {}, {}};
  const Setting ours{{100, 33333, 100000}, {}, {}};
  Setting there = original;
  there.io.caps["8:0"] = {};
  for (const std::int64_t quota_us : {123400, 124000, 33000}) {
    there.cpu.quota_us = quota_us;
    CHECK(take_others(original, there, ours) == original);
  }
  there.cpu.quota_us = 34500;
  CHECK(take_others(original, there, ours) == with_cpu(original, there.cpu));
}

TEST_CASE("a setting with another CPU limit keeps its memory and I/O") {
  const Setting setting{{100, std::nullopt, 100000}, {1 << 20}, {50, {{"8:0", {1 << 20}}}}};
  const CpuSetting cpu{40, 30000, 50000};
  CHECK(with_cpu(setting, cpu) == Setting{cpu, setting.memory, setting.io});
}

}  // namespace flowcon::cgroups
