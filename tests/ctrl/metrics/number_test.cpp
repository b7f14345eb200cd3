// SPDX-License-Identifier: Apache-2.0
#include "ctrl/metrics/number.h"

#include <cmath>
#include <limits>
#include <string>

#include "tests/support/catch.h"

namespace flowcon::ctrl::metrics {
namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
}

TEST_CASE("numbers are read as training logs print them") {
  struct Row {
    const char* text;
    double value;
    std::size_t end;
    bool integer;
    bool percent;
  };
  const Row rows[] = {
      {"0.25", 0.25, 4, false, false},
      {"-3", -3, 2, true, false},
      {"+1.5e-07,", 1.5e-07, 8, false, false},
      {"6.7E+00 |", 6.7, 7, false, false},
      {".5", 0.5, 2, false, false},
      // Julia's Float32: with a point, and no letter behind it.
      {"0.9f0,", 0.9, 5, false, false},
      {"1.2f-5)", 1.2e-5, 6, false, false},
      {"9f0", 9, 1, true, false},
      {"1.5f", 1.5, 3, false, false},
      {"0.5f3a", 0.5, 3, false, false},
      {"12.5%", 12.5, 5, false, true},
      {"1e999", kInfinity, 5, false, false},
      {"-1e999", -kInfinity, 6, false, false},
      {"1e-999", 0, 6, false, false},
      {"48,211.50 (", 48211.5, 9, false, false},
      {"1,234,567.0", 1234567, 11, false, false},
      // Not certain: a list, no decimal point, a group that is too short.
      {"1,234", 1, 1, true, false},
      {"1,23.5", 1, 1, true, false},
      {"0,123.5", 0, 1, true, false},
      {"1.#INF", kInfinity, 6, false, false},
      {"7e", 7, 1, true, false},
      {"7e+", 7, 1, true, false},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    const auto number = number_at(row.text, 0);
    REQUIRE(number);
    CHECK(number->value == row.value);
    CHECK(number->end == row.end);
    CHECK(number->integer == row.integer);
    CHECK(number->percent == row.percent);
  }
}

TEST_CASE("what is no number is none") {
  for (const char* text : {"", "-", "+", ".", "e5", "-.", "abc"}) {
    INFO(text);
    CHECK_FALSE(number_at(text, 0));
  }
  CHECK_FALSE(number_at(std::string(500, '1'), 0));
}

TEST_CASE("nan and infinities have names in any case") {
  CHECK(std::isnan(non_finite_at("NaN", 0)->value));
  CHECK(std::isnan(non_finite_at("-nan(ind)", 0)->value));
  CHECK(non_finite_at("-Inf,", 0)->value == -kInfinity);
  CHECK(non_finite_at("infinity", 0)->end == 8);
  CHECK_FALSE(non_finite_at("info", 0));
  CHECK_FALSE(non_finite_at("nano", 0));
  CHECK_FALSE(non_finite_at("inf_loss", 0));
}

TEST_CASE("a whole text is a number or not") {
  CHECK(whole_number(" 0.5 ")->value == 0.5);
  CHECK(whole_number("96%")->percent);
  CHECK_FALSE(whole_number("0.5s"));
  CHECK_FALSE(whole_number(""));
}

}  // namespace flowcon::ctrl::metrics
