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

}  // namespace flowcon::cgroups
