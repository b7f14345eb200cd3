// SPDX-License-Identifier: Apache-2.0
#include "base/failpoint.h"

#include <cstdlib>

#include "tests/support/catch.h"

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

}  // namespace
}  // namespace flowcon
