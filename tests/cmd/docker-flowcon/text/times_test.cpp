// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/text/times.h"

#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "tests/support/catch.h"

namespace flowcon::plugin {
namespace {

TEST_CASE("durations are Go's") {
  const std::vector<std::pair<std::string, double>> rows{
      {"90s", 90},         {"30m", 1800},          {"2h", 7200},     {"1h30m", 5400},
      {"1.5h", 5400},      {"500ms", 0.5},         {"1m0.5s", 60.5}, {"0s", 0},
      {"10us", 10 * 1e-6}, {"3\u00B5s", 3 * 1e-6}, {"5ns", 5 * 1e-9}};
  for (const auto& [text, seconds] : rows) {
    INFO(text);
    CHECK(parse_duration(text) == seconds);
  }
  for (const std::string text : {"", "90", "h", "1x", "-1h", "1h30", "1 h", "nanh", "1e3s", "..s",
                                 "1e999h", "100000h", "2H", "1h-2m"}) {
    INFO(text);
    CHECK_FALSE(parse_duration(text));
  }
}

TEST_CASE("moments are what docker's --since takes") {
  setenv("TZ", "IST-5:30", 1);
  const double now = 1790000000;
  const std::vector<std::pair<std::string, double>> rows{
      {"42m", now - 2520},
      {"+42m", now - 2520},
      {"-42m", now + 2520},
      {"1789990000", 1789990000},
      {"1789990000.25", 1789990000.25},
      {"2026-09-21T13:33:20Z", 1789997600},
      {"2026-09-21T13:33:20.5Z", 1789997600.5},
      {"2026-09-21T13:33:20+01:30", 1789997600 - 5400},
      {"2026-09-21T13:33:20-02:00", 1789997600 + 7200},
      {"2026-09-21T13:33Z", 1789997580},
      {"2026-09-21T13:33:20", 1789997600 - 19800},
      {"2026-09-21T13", 1789995600 - 19800},
      {"2026-09-21T13Z", 1789995600},
      {"2026-09-21", 1789948800 - 19800},
      {"2026-09-21Z", 1789948800},
      {"2026-09-21+01:00", 1789948800 - 3600},
      {"2026-09-21-01:00", 1789948800 + 3600},
  };
  for (const auto& [text, seconds] : rows) {
    INFO(text);
    CHECK(parse_moment(text, now) == seconds);
  }
  for (const std::string text :
       {"", "yesterday", "2026-13-01", "2026-09-21T13:33:20.Z", "T", "Z", "2026-09-21T",
        "2026-09-21T13:33:20+1", "2026-09-21 13:33", "1e9", "99999999999999", "2026-09-21.5",
        "--5m", "-", "-5", "-2026-09-21"}) {
    INFO(text);
    CHECK_FALSE(parse_moment(text, now));
  }
  setenv("TZ", "UTC", 1);
}

TEST_CASE("moments are shown in local time, and nonsense as unknown") {
  setenv("TZ", "UTC", 1);

  CHECK(moment_text(1790000000.9) == "2026-09-21 14:13:20");
  CHECK(clock_text(1790000000) == "14:13:20");
  CHECK(moment_text(0) == "1970-01-01 00:00:00");
  for (const double moment : {-1.0, 1e300, std::nan(""), HUGE_VAL}) {
    CHECK(moment_text(moment) == "--");
  }
  CHECK(moment_text(std::nullopt) == "--");
}

}  // namespace
}  // namespace flowcon::plugin
