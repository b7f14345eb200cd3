// SPDX-License-Identifier: Apache-2.0
#include "cgroups/names.h"

#include <cerrno>
#include <string>

#include "tests/support/catch.h"

namespace flowcon::cgroups {

TEST_CASE("names that engines give their groups are accepted") {
  for (const char* group : {"", "docker", "docker/4f0c1d", "system.slice/docker-4f0c.scope",
                            "a\\x2db/x@y:z", "kubepods/burstable/pod1/..data"}) {
    INFO(group);
    CHECK(check_group(group).has_value());
  }
}

TEST_CASE("a group name that could leave the hierarchy is refused with EINVAL") {
  for (const std::string& group :
       {std::string(".."), std::string("../x"), std::string("a/../b"), std::string("a/.."),
        std::string("."), std::string("a/./b"), std::string("/a"), std::string("a/"),
        std::string("a//b"), std::string("a b"), std::string("a\nb"), std::string("a\0b", 3),
        std::string("a\x1b[2J"), std::string("\xc3\xa4"), std::string("a\"b"),
        std::string(256, 'x'), std::string(1024, 'x')}) {
    INFO(group);
    const auto checked = check_group(group);
    REQUIRE_FALSE(checked.has_value());
    CHECK(checked.error().code.value() == EINVAL);
  }
}

TEST_CASE("a refusal shows the name without its control characters") {
  const auto checked = check_group("a\x1b[2J/..");
  REQUIRE_FALSE(checked.has_value());
  CHECK(checked.error().message().find('\x1b') == std::string::npos);
}

TEST_CASE("a group name may be exactly as long as a path component and a path may be") {
  CHECK(check_group(std::string(255, 'x')).has_value());
  std::string longest;
  for (int i = 0; i < 4; ++i) longest += std::string(255, 'x') + "/";
  longest.pop_back();
  REQUIRE(longest.size() == 1023);
  CHECK(check_group(longest).has_value());
}

TEST_CASE("only the names of control files are accepted as files") {
  CHECK(check_file("cpu.cfs_quota_us").has_value());
  CHECK(check_file("io.max").has_value());
  for (const char* file : {"", ".", "..", "a/b", "cpu..max", ".hidden", "CPU.max", "cpu max"}) {
    INFO(file);
    CHECK_FALSE(check_file(file).has_value());
  }
}

TEST_CASE("a value is one line that libcgroup does not cut") {
  CHECK(check_text("max 100000").has_value());
  CHECK(check_text(std::string(99, '1')).has_value());
  CHECK_FALSE(check_text(std::string(100, '1')).has_value());
  CHECK_FALSE(check_text("").has_value());
  CHECK_FALSE(check_text("1\n2").has_value());
}

}  // namespace flowcon::cgroups
