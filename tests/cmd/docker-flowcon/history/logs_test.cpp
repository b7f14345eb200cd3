// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/history/logs.h"

#include "tests/support/catch.h"

using namespace flowcon::plugin;
using flowcon::cluster::migration::LogRecord;
using flowcon::cluster::migration::render_record;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// "a", "b" … a second apart from 100 s on.
std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += render_record(
        {(100 + i) * kSecond, false, std::string(1, static_cast<char>('a' + i)) + "\n"});
  }
  return text;
}

std::string all_of(PastLines& past, bool is_end) {
  std::string text;
  for (const LogRecord& record : past.shown(is_end)) text += record.text;
  return text;
}

}  // namespace

TEST_CASE("logs: all that is kept of earlier hosts is shown as it comes") {
  PastLines past({}, {}, {});
  past.take(lines(2));
  CHECK(all_of(past, false) == "a\nb\n");
  past.take(lines(1));
  CHECK(all_of(past, true) == "a\n");
}

TEST_CASE("logs: between two moments, both included") {
  PastLines past(101, 103, {});
  past.take(lines(6));
  CHECK(all_of(past, true) == "b\nc\nd\n");
}

TEST_CASE("logs: the last lines are known at the end, and a line in pieces is one") {
  PastLines past({}, {}, 2);
  past.take(lines(3));
  CHECK(all_of(past, false).empty());
  past.take(render_record({200 * kSecond, false, "half "}));
  past.take(render_record({200 * kSecond, false, "line\n"}));
  CHECK(all_of(past, true) == "c\nhalf line\n");
  PastLines none({}, {}, 0);
  none.take(lines(3));
  CHECK(all_of(none, true).empty());
}

TEST_CASE("logs: what is no record is left out") {
  PastLines past({}, {}, {});
  past.take("no record\n{}\n" + lines(1) + "{\"log\":");
  CHECK(all_of(past, true) == "a\n");
}
