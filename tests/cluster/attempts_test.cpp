// SPDX-License-Identifier: Apache-2.0
#include "cluster/attempts.h"

#include "tests/support/catch.h"

namespace flowcon::cluster {
namespace {

TEST_CASE("a container is tried three times, later each time, and not twice at one host") {
  Attempts attempts;
  CHECK(attempts.may_try("a", 0));
  attempts.fail("a", "h2", 0, 60);
  CHECK(attempts.is_refused("a", "h2"));
  CHECK_FALSE(attempts.is_refused("a", "h3"));
  CHECK_FALSE(attempts.may_try("a", 59));
  CHECK(attempts.may_try("a", 60));
  attempts.fail("a", "h3", 60, 60);
  CHECK_FALSE(attempts.may_try("a", 179));
  CHECK(attempts.may_try("a", 180));
  attempts.fail("a", "h4", 180, 60);
  CHECK(attempts.is_exhausted("a"));
  CHECK_FALSE(attempts.may_try("a", 1e9));
  attempts.forget("a");
  CHECK(attempts.may_try("a", 180));
}

}  // namespace
}  // namespace flowcon::cluster
