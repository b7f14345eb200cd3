// SPDX-License-Identifier: Apache-2.0
// Use and soft limit of one group, v1 and v2, and who gets which limit when memory is short.
#include "cgroups/memory.h"

#include <cerrno>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/fake_cgroups.h"

namespace flowcon::cgroups {

using flowcon::test::FakeCgroups;

namespace {

const Group kGroup{"docker/4f", "docker/4f", "docker/4f", "", "docker/4f"};
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kKiB = 1024;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

FakeCgroups host_of(Mode mode) {
  return FakeCgroups(
      mode, {{"docker/4f", mode == Mode::v2 ? FakeCgroups::v2_group() : FakeCgroups::v1_group()}});
}

MemorySetting soft(std::uint64_t bytes) { return {bytes}; }

/// What one container gets on a host of 100 GiB that is short of memory.
MemorySetting when_short(const MemoryShare& share, double margin = 1.2) {
  HostMemory host;
  host.total_bytes = 100 * kGiB;
  MemoryParameters parameters;
  parameters.margin = margin;
  bool is_short = false;
  const auto settings = soften({share}, host, parameters, is_short);
  CHECK(is_short);
  return settings.at(0);
}

}  // namespace

TEST_CASE("the working set leaves out inactive file pages") {
  FakeCgroups v1 = host_of(Mode::v1);
  v1.set("docker/4f", "memory.usage_in_bytes", "1000000");
  v1.set("docker/4f", "memory.stat", "inactive_file 5\ntotal_inactive_file 400000");
  const MemoryUse use = read_memory_use(v1, kGroup).value();
  CHECK(use.current == 1000000);
  CHECK(use.working_set == 600000);
  FakeCgroups v2 = host_of(Mode::v2);
  v2.set("docker/4f", "memory.current", "1000000");
  v2.set("docker/4f", "memory.stat", "anon 1\ninactive_file 300000\nactive_file 7");
  CHECK(read_memory_use(v2, kGroup).value().working_set == 700000);
}

TEST_CASE("a working set is never negative, since its two numbers are read one after the other") {
  FakeCgroups fs = host_of(Mode::v2);
  fs.set("docker/4f", "memory.current", "10");
  fs.set("docker/4f", "memory.stat", "inactive_file 11");
  CHECK(read_memory_use(fs, kGroup).value().working_set == 0);
}

TEST_CASE("a container without a memory group has neither use nor limit") {
  FakeCgroups fs = host_of(Mode::v1);
  const Group group{"docker/4f", "", "", ""};
  CHECK(read_memory_use(fs, group).error().code.value() == ENOENT);
  CHECK(read_memory(fs, group).error().code.value() == ENOENT);
  CHECK(write_memory(fs, group, soft(kGiB)).error().code.value() == ENOENT);
  CHECK(fs.writes().empty());
}

TEST_CASE("a memory file that holds no number is EBADMSG") {
  for (const char* text : {"", "abc", "-5", "1 2", "99999999999999999999999", "maximum"}) {
    INFO(text);
    FakeCgroups fs = host_of(Mode::v2);
    fs.set("docker/4f", "memory.high", text);
    CHECK(read_memory(fs, kGroup).error().code.value() == EBADMSG);
    fs.set("docker/4f", "memory.current", text);
    CHECK(read_memory_use(fs, kGroup).error().code.value() == EBADMSG);
  }
}

TEST_CASE("a soft limit is one write, in the spelling of its version, and none where it is there") {
  CHECK(render(soft(5), soft(5), true).empty());
  CHECK(render(MemorySetting{}, MemorySetting{}, false).empty());
  CHECK(render(MemorySetting{}, soft(8192), true) ==
        std::vector<Write>{{"memory", "memory.high", "8192"}});
  CHECK(render(soft(8192), {}, true) == std::vector<Write>{{"memory", "memory.high", "max"}});
  CHECK(render({}, soft(8192), false) ==
        std::vector<Write>{{"memory", "memory.soft_limit_in_bytes", "8192"}});
  CHECK(render(soft(8192), {}, false) ==
        std::vector<Write>{{"memory", "memory.soft_limit_in_bytes", "-1"}});
}

TEST_CASE("a soft limit is written, read back, and taken off again") {
  for (const Mode mode : {Mode::v1, Mode::v2}) {
    FakeCgroups fs = host_of(mode);
    const MemorySetting before = read_memory(fs, kGroup).value();
    CHECK(before == MemorySetting{});
    // The kernel's pages are what it keeps; that is no failure.
    REQUIRE(write_memory(fs, kGroup, soft(300 * kKiB * kKiB + 1)).has_value());
    CHECK(read_memory(fs, kGroup).value() == soft(300 * kKiB * kKiB));
    fs.forget_writes();
    REQUIRE(write_memory(fs, kGroup, soft(300 * kKiB * kKiB + 1)).has_value());
    CHECK(fs.writes().empty());
    REQUIRE(write_memory(fs, kGroup, before).has_value());
    CHECK(read_memory(fs, kGroup).value() == before);
  }
}

TEST_CASE("a soft limit that the kernel did not take is EIO with both values") {
  FakeCgroups fs = host_of(Mode::v2);
  fs.ignore_writes(true);
  const auto done = write_memory(fs, kGroup, soft(8192));
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().code.value() == EIO);
  CHECK(done.error().message().find("wrote a soft limit of 8192 bytes, the kernel holds no soft "
                                    "limit") != std::string::npos);
}

TEST_CASE("a group that died and a kernel without soft limits are told apart") {
  FakeCgroups fs = host_of(Mode::v1);
  fs.remove_file("docker/4f", "memory.soft_limit_in_bytes");
  CHECK(write_memory(fs, kGroup, soft(8192)).error().code.value() == ENOENT);
  fs.remove("docker/4f");
  CHECK(write_memory(fs, kGroup, soft(8192)).error().code.value() == ESTALE);
}

TEST_CASE("systemd is told memory.high and never a hard limit") {
  constexpr std::uint64_t kInfinity = std::numeric_limits<std::uint64_t>::max();
  CHECK(unit_properties(soft(8192), true) == std::vector<UnitProperty>{{"MemoryHigh", 8192}});
  CHECK(unit_properties(MemorySetting{}, true) ==
        std::vector<UnitProperty>{{"MemoryHigh", kInfinity}});
  CHECK(unit_properties(soft(8192), false).empty());
}

TEST_CASE(
    "a host is short of memory between the threshold that begins it and the one that ends it") {
  struct Row {
    double available;  // share of the host
    std::optional<double> stalled;
    bool was_short;
    bool is_short;
  };
  const Row rows[] = {
      {0.50, 0.0, false, false},         {0.10, 0.0, false, false},
      {0.0999, 0.0, false, true},        {0.50, 10.0, false, false},
      {0.50, 10.1, false, true},         {0.05, 50.0, false, true},
      {0.12, 0.0, false, false},         {0.12, 0.0, true, true},
      {0.15, 0.0, true, true},           {0.1501, 0.0, true, false},
      {0.50, 7.0, true, true},           {0.50, 5.0, true, true},
      {0.50, 4.9, true, false},          {0.12, 4.9, true, true},
      {0.05, std::nullopt, false, true}, {0.50, std::nullopt, true, false},
      {0.50, kNaN, false, false},        {0.80, 12.0, false, false},
      {0.80, 7.0, true, false},          {0.55, 12.0, true, true},
      {0.55, 12.0, false, false},
  };
  for (const Row& row : rows) {
    INFO("row " << (&row - rows));
    HostMemory host;
    host.total_bytes = 10000 * kKiB;
    host.available_bytes = static_cast<std::uint64_t>(row.available * 10000 * kKiB);
    host.pressure_some_avg10 = row.stalled;
    CHECK(is_short_of_memory(host, {}, row.was_short) == row.is_short);
  }
  CHECK_FALSE(is_short_of_memory({}, {}, true));  // unknown
}

TEST_CASE("nobody is limited while there is memory, and everybody gets the original back") {
  HostMemory host;
  host.total_bytes = 100 * kGiB;
  host.available_bytes = 50 * kGiB;
  for (const bool was_short : {false, true}) {
    bool is_short = was_short;
    const auto settings = soften({{{}, 1, 0.1}, {soft(8192), 1, 0.1}}, host, {}, is_short);
    CHECK(settings == std::vector<MemorySetting>{{}, soft(8192)});
    CHECK_FALSE(is_short);
  }
}

TEST_CASE("a soft limit is the share of the host, above the working set, below the original") {
  struct Row {
    MemoryShare share;
    MemorySetting expected;
  };
  const Row rows[] = {
      {{{}, kGiB, 0.25}, soft(25 * kGiB)},
      // 40 GiB * 1.2
      {{{}, 40 * kGiB, 0.25}, soft(48 * kGiB)},
      // what a user set is a ceiling, even below the working set
      {{soft(30 * kGiB), 40 * kGiB, 0.25}, soft(30 * kGiB)},
      {{soft(60 * kGiB), 40 * kGiB, 0.25}, soft(48 * kGiB)},
      // a limit of 1 is the original
      {{{}, 40 * kGiB, 1}, {}},
      {{soft(8192), 40 * kGiB, 1}, soft(8192)},
      {{{}, kGiB, kNaN}, {}},
      {{{}, kGiB, 7}, {}},
      // whole 64 KiB, upwards
      {{{}, 0, 1e-6}, soft(131072)},  // 107374 bytes
      {{{}, 0, 0}, soft(131072)},
      {{{}, 0, -1}, soft(131072)},
      // more than can be: no limit rather than a wrong one
      {{{}, std::numeric_limits<std::uint64_t>::max(), 0.5}, {}},
  };
  for (const Row& row : rows) {
    INFO("row " << (&row - rows));
    CHECK(when_short(row.share) == row.expected);
  }
}

TEST_CASE("a soft limit that leaves less than the working set and its margin is below the need") {
  CHECK(is_below_need(soft(1249), 1000, 1.25));
  CHECK_FALSE(is_below_need(soft(1250), 1000, 1.25));
  CHECK_FALSE(is_below_need(soft(0), 0, 1.25));
  CHECK_FALSE(is_below_need({}, std::numeric_limits<std::uint64_t>::max(), 1.25));
}

TEST_CASE("a margin below 1 or without meaning never cuts into the working set") {
  for (const double margin : {0.5, 0.0, -3.0, kNaN, std::numeric_limits<double>::infinity()}) {
    CHECK(when_short({{}, 40 * kGiB, 0.25}, margin) == soft(40 * kGiB));
  }
}

TEST_CASE("softening any host keeps its promises") {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> any(0, 1);
  for (int round = 0; round < 1000; ++round) {
    HostMemory host;
    host.total_bytes = 1 + random() % (4096 * kGiB);
    MemoryShare share;
    share.working_set_bytes = random() % host.total_bytes;
    share.limit = any(random);
    if (random() % 2) share.original = soft(random() % host.total_bytes / 4096 * 4096);
    bool is_short = true;
    const MemorySetting setting = soften({share}, host, {}, is_short).at(0);
    REQUIRE(setting.soft_bytes);
    CHECK(rounded_to_pages(setting, 4096) == setting);
    if (share.original.soft_bytes) CHECK(*setting.soft_bytes <= *share.original.soft_bytes);
    if (setting == share.original) continue;
    CHECK(static_cast<double>(*setting.soft_bytes) >=
          1.2 * static_cast<double>(share.working_set_bytes));
  }
}

}  // namespace flowcon::cgroups
