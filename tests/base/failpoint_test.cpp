// SPDX-License-Identifier: Apache-2.0
#include "base/failpoint.h"

#include <cstdlib>

#include "tests/support/catch.h"
#include "tests/support/fake_root.h"

namespace flowcon {
namespace {

// Of the build: 1 or 0.
constexpr double kBuilt = FLOWCON_FAILPOINTS;

TEST_CASE("a failpoint holds for as long as the environment says, in a build that has them") {
  ::setenv("FLOWCON_FAILPOINTS", "move.source.save:2.5,move.target.start:30", 1);
  CHECK(failpoint_seconds("move.source.save") == 2.5 * kBuilt);
  CHECK(failpoint_seconds("move.target.start") == 30 * kBuilt);
  CHECK(failpoint_seconds("target.start") == 0);
  CHECK(failpoint_seconds("move.source") == 0);
  ::unsetenv("FLOWCON_FAILPOINTS");
  CHECK(failpoint_seconds("move.source.save") == 0);
}

TEST_CASE("failpoints are over once the file is there that the environment names") {
  const test::FakeRoot root;
  const std::string file = root.path() + "/over";
  CHECK(!failpoints_are_over());
  ::setenv("FLOWCON_FAILPOINTS_UNTIL", file.c_str(), 1);
  CHECK(!failpoints_are_over());
  root.put("/over", "");
  CHECK(failpoints_are_over() == (kBuilt != 0));
  ::unsetenv("FLOWCON_FAILPOINTS_UNTIL");
}

}  // namespace
}  // namespace flowcon
