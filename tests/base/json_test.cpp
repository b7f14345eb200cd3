// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include "tests/support/catch.h"

namespace {

using flowcon::parse_json;
using flowcon::render_json;
using flowcon::render_number;

std::string again(std::string_view text) {
  const auto value = parse_json(text);
  REQUIRE(value);
  return render_json(*value);
}

std::string complaint(std::string_view text) {
  const auto value = parse_json(text);
  REQUIRE_FALSE(value);
  return value.error().message();
}

double number(std::string_view text) {
  const auto value = parse_json(text);
  REQUIRE(value);
  return value->to_number<double>();
}

double random_double(std::mt19937_64& random) {
  for (;;) {
    const auto value = std::bit_cast<double>(random());
    if (std::isfinite(value)) return value;
  }
}

}  // namespace

TEST_CASE("a number becomes the nearest double, as strtod reads it") {
  std::mt19937_64 random(20250101);
  std::array<char, 512> text{};
  int wrong = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    // 17 digits mostly, then few digits and more than a double holds.
    const int digits = i % 4 == 3 ? static_cast<int>(random() % 60) : i % 4 == 2 ? i % 7 : 16;
    std::snprintf(text.data(), text.size(), "%.*e", digits, random_double(random));
    const double want = std::strtod(text.data(), nullptr);
    if (!std::isfinite(want)) continue;
    const auto got = parse_json(text.data());
    if (!got || got->to_number<double>() != want) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("the value half way between two doubles goes to the even one, one digit more goes up") {
  // 2^53 + 1 lies between 2^53 and 2^53 + 2.
  CHECK(number("9007199254740993.0") == 9007199254740992.0);
  CHECK(number("9007199254740993." + std::string(800, '0') + "1") == 9007199254740994.0);
  CHECK(number("0." + std::string(300, '0') + "25e300") == 0.25);
  CHECK(number("2.2250738585072011e-308") == std::strtod("2.2250738585072011e-308", nullptr));
}

TEST_CASE("rendered doubles read back as the same bits") {
  std::mt19937_64 random(7);
  int wrong = 0;
  for (int i = 0; i < 200'000; ++i) {
    const double value = i % 2 == 0 ? random_double(random)
                                    : std::ldexp(static_cast<double>(random() >> 11), i % 80 - 60);
    if (number(render_number(value)) != value) ++wrong;
  }
  CHECK(wrong == 0);
  CHECK(std::signbit(number(render_number(-0.0))));
  const double tiny = std::numeric_limits<double>::denorm_min();
  const double most = std::numeric_limits<double>::max();
  CHECK(number(render_number(tiny)) == tiny);
  CHECK(number(render_number(-most)) == -most);
}

TEST_CASE("numbers are rendered in the fewest digits") {
  CHECK(render_number(1.0) == "1");
  CHECK(render_number(0.25) == "0.25");
  CHECK(render_number(0.1 + 0.2) == "0.30000000000000004");
  CHECK(render_number(100000.0) == "100000");
  CHECK(render_number(1e15) == "1000000000000000");
  CHECK(render_number(1e16) == "1e+16");
  CHECK(render_number(0.0001) == "0.0001");
  CHECK(render_number(1e-7) == "1e-07");
  CHECK(render_number(0.0) == "0");
  CHECK(render_number(std::nan("")) == "nan");
  CHECK(render_number(INFINITY) == "inf");
  CHECK(render_number(-INFINITY) == "-inf");
  CHECK(render_json(boost::json::array{NAN, INFINITY, -INFINITY}) == R"(["nan","inf","-inf"])");
}

TEST_CASE("integers of 64 bits stay exact, larger ones become doubles") {
  CHECK(again("-9223372036854775808") == "-9223372036854775808");
  CHECK(again("18446744073709551615") == "18446744073709551615");
  CHECK(again("18446744073709551616") == "1.8446744073709552e+19");
  CHECK(again("-9223372036854775809") == "-9.223372036854776e+18");
}

TEST_CASE("a number beyond a double is an error that shows it, too small a one is zero") {
  CHECK(complaint("1e999") == "the number 1e999 is beyond the range of a double");
  CHECK(complaint(R"({"a":[1,-1e309]})") == "the number -1e309 is beyond the range of a double");
  CHECK(complaint(std::string(400, '9')).starts_with("the number 99999"));
  CHECK_FALSE(parse_json("1e99999999999"));
  CHECK(number("1e-999") == 0);
  CHECK(std::signbit(number("-1e-999")));
  CHECK(number("0e999") == 0);
}

TEST_CASE("what is not JSON is an error") {
  const auto text =
      GENERATE(as<std::string>{}, "", " ", "{", "[1,]", "[1 2]", "{\"a\"}", "{a:1}", "nan", "NaN",
               "Infinity", "01", "+1", "1.", ".5", "1e", "-", "0x10", "'a'", "\"a", "\"\\x\"",
               "\"\\ud800\"", "tru", "1 1", "{} x", "// c\n1", "\"\n\"");
  CAPTURE(text);
  CHECK(complaint(text).starts_with("not JSON: "));
}

TEST_CASE("invalid UTF-8 and NUL outside a string are errors") {
  CHECK_FALSE(parse_json("\"\xff\""));
  CHECK_FALSE(parse_json("\"\xc0\xaf\""));
  CHECK_FALSE(parse_json("\"\xed\xa0\x80\""));
  CHECK_FALSE(parse_json(std::string_view("1\0", 2)));
}

TEST_CASE("nesting up to 64 is read, deeper is an error") {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK(parse_json(nested(64)));
  CHECK(complaint(nested(65)) == "not JSON: too deep at byte 65");
  CHECK_FALSE(parse_json(std::string(1'000'000, '[')));
}

TEST_CASE("of a member that is there twice the last one counts") {
  CHECK(again(R"({"a":1,"b":2,"a":3})") == R"({"a":3,"b":2})");
}

TEST_CASE("strings are escaped, other characters stay") {
  CHECK(again(R"("q\" b\\ \n\r\t\u0000\u001f\u007f é \ud83d\ude00 \/")") ==
        "\"q\\\" b\\\\ \\n\\r\\t\\u0000\\u001f\x7f é 😀 /\"");
  CHECK(render_json(boost::json::value("a\xff")) == "\"a\xEF\xBF\xBD\"");
}

TEST_CASE("pretty output is indented by two spaces, empty containers stay closed") {
  const auto value = parse_json(R"({"a":[1,{"b":null}],"c":[],"d":{}})");
  REQUIRE(value);
  CHECK(flowcon::render_json_pretty(*value) == R"({
  "a": [
    1,
    {
      "b": null
    }
  ],
  "c": [],
  "d": {}
})");
}

TEST_CASE("random bytes never crash the parser") {
  std::mt19937_64 random(99);
  constexpr std::string_view kPieces = "{}[]\",:\\u0-+.eE1tfn \x80\xe2\xff\n";
  for (int i = 0; i < 50'000; ++i) {
    std::string text;
    for (std::size_t n = random() % 40; n > 0; --n) text += kPieces[random() % kPieces.size()];
    if (const auto value = parse_json(text)) CHECK(parse_json(render_json(*value)));
  }
}
