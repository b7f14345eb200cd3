// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/text/units.h"

#include <limits>
#include <optional>

#include "tests/support/catch.h"

namespace flowcon::plugin {

TEST_CASE("a time is told in the unit that two digits are enough for") {
  CHECK(time_text(0) == "0 s");
  CHECK(time_text(42.4) == "42 s");
  CHECK(time_text(310.5) == "5 min");
  CHECK(time_text(5999) == "100 min");
  CHECK(time_text(6000) == "1.7 h");
  CHECK(time_text(100000) == "28 h");
  CHECK(time_text(400000) == "5 d");
  for (const std::optional<double> unknown :
       {std::optional<double>(), std::optional(-1.0), std::optional(1e12),
        std::optional(std::numeric_limits<double>::quiet_NaN()),
        std::optional(std::numeric_limits<double>::infinity())}) {
    CHECK(time_text(unknown) == kUnknown);
  }
}

TEST_CASE("growth is told in percent a second, to three digits and in eleven columns") {
  CHECK(growth_text(0.0012) == "0.12%/s");
  CHECK(growth_text(0.152) == "15.2%/s");
  CHECK(growth_text(12.3) == "1230%/s");
  CHECK(growth_text(0.00000123) == "0.000123%/s");
  CHECK(growth_text(0) == "0%/s");
  CHECK(growth_text(std::nullopt) == kUnknown);
  CHECK(growth_text(std::numeric_limits<double>::infinity()) == kUnknown);
}

}  // namespace flowcon::plugin
