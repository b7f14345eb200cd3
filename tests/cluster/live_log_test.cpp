// SPDX-License-Identifier: Apache-2.0
#include "cluster/live_log.h"

#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::cluster;

namespace {

constexpr std::int64_t kSecond = 1'000'000;
constexpr std::int64_t kBegin = 1'795'626'242 * kSecond;  // 2026-11-25T17:04:02Z

// A line of a terminal, at so many microseconds after kBegin.
std::string line(std::int64_t microseconds, const std::string& text) {
  return migration::render_log_time((kBegin + microseconds) * 1000) + " " + text + "\n";
}

}  // namespace

TEST_CASE("a page of a log has what was printed after a moment") {
  LogPage page(true, kBegin + 2 * kSecond, 1000);
  REQUIRE(page.feed(line(1 * kSecond, "one") + line(2 * kSecond, "two")).has_value());
  CHECK(page.lines().empty());
  CHECK(page.after() == kBegin + 2 * kSecond);
  REQUIRE(page.feed(line(2 * kSecond + 1, "three")).has_value());
  CHECK(page.lines().find("three") != std::string::npos);
  CHECK(page.after() == kBegin + 2 * kSecond + 1);
  CHECK_FALSE(page.is_full());
}

TEST_CASE("pages follow each other without a gap, and none ends within one moment") {
  std::string all;
  for (int i = 0; i < 100; ++i) all += line(i / 4 * kSecond, "line " + std::to_string(i));
  std::string seen;
  std::int64_t after = 0;
  int pages = 0;
  for (bool has_more = true; has_more; ++pages) {
    LogPage page(true, after, 300);
    REQUIRE(page.feed(all).has_value());
    seen += page.lines();
    has_more = page.is_full();
    after = page.after();
  }
  CHECK(pages > 5);
  for (int i = 0; i < 100; ++i) {
    const std::string wanted = "line " + std::to_string(i) + "\\n";
    CHECK(seen.find(wanted) != std::string::npos);
    CHECK(seen.find(wanted) == seen.rfind(wanted));
  }
}

TEST_CASE("what is no log of an engine is an error") {
  LogPage page(false, 0, 1000);
  CHECK_FALSE(page.feed(std::string(64, 'x')).has_value());
}
