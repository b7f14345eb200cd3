// SPDX-License-Identifier: Apache-2.0
#include "base/digits.h"

#include <limits>

#include "tests/support/catch.h"

using namespace flowcon;

TEST_CASE("a number has two significant digits, and all of those before the point") {
  CHECK(two_digits(0.12) == "0.12");
  CHECK(two_digits(0.0456) == "0.046");
  CHECK(two_digits(5.34) == "5.3");
  CHECK(two_digits(5.04) == "5");
  CHECK(two_digits(9.96) == "10");
  CHECK(two_digits(0.0996) == "0.1");
  CHECK(two_digits(33.33) == "33");
  CHECK(two_digits(99.6) == "100");
  CHECK(two_digits(114.7) == "115");
  CHECK(two_digits(0) == "0");
  CHECK(two_digits(-0.25) == "-0.25");
  CHECK(two_digits(0.0004) == "<0.001");
  CHECK(two_digits(std::numeric_limits<double>::quiet_NaN()) == "?");
  CHECK(two_digits(1e300).size() == 301);
  CHECK(share_text(0.949) == "95 %");
}
