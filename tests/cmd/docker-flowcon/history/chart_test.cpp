// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/history/chart.h"

#include <cmath>
#include <limits>
#include <sstream>

#include "cmd/docker-flowcon/text/table.h"
#include "cmd/docker-flowcon/text/units.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

namespace flowcon::plugin {
namespace {

std::string label(double value) { return number_text(value, 4); }

ChartLook look_of(unsigned width, unsigned height, bool braille) {
  ChartLook look;
  look.width = width;
  look.height = height;
  look.braille = braille;
  look.x_label = look.y_label = label;
  return look;
}

std::vector<ChartPoint> falling() {
  std::vector<ChartPoint> points;
  for (int i = 0; i < 100; ++i) points.push_back({i * 1.0, std::exp(-i / 20.0)});
  return points;
}

TEST_CASE("a falling series falls, in braille and in ASCII") {
  test::check_golden("plugin/chart_braille.txt", render_chart(falling(), look_of(60, 12, true)));
  test::check_golden("plugin/chart_ascii.txt", render_chart(falling(), look_of(60, 12, false)));
}

TEST_CASE("steps hold until the next value, and what is not finite is a gap") {
  const std::vector<ChartPoint> points{{0, 1},     {10, 0.5}, {20, std::nan("")},
                                       {30, 0.25}, {40, 1},   {50, HUGE_VAL}};
  ChartLook look = look_of(40, 8, false);
  look.has_steps = true;

  test::check_golden("plugin/chart_steps.txt", render_chart(points, look));
}

TEST_CASE("one point and equal values stand in the middle with one label") {
  CHECK(render_chart({{5, 7}}, look_of(20, 5, false)) ==
        "  |\n7 +        *\n  |\n  +-----------------\n           5\n");
  CHECK(render_chart({{0, 7}, {9, 7}}, look_of(20, 5, false)) ==
        "  |\n7 +*****************\n  |\n  +-----------------\n   0      4.5      9\n");
}

TEST_CASE("nothing finite is no chart") {
  CHECK(render_chart({}, look_of(40, 10, true)).empty());
  CHECK(render_chart({{1, std::nan("")}, {HUGE_VAL, 1}}, look_of(40, 10, true)).empty());
}

TEST_CASE("no line is wider than told, and there are as many as told, whatever the numbers") {
  constexpr double kMost = std::numeric_limits<double>::max();
  const std::vector<std::vector<ChartPoint>> series{
      falling(),
      {{-kMost, -kMost}, {kMost, kMost}},
      {{0, 0}, {5e-324, 5e-324}},
      {{1790000000, -1.2345e-300}, {1790000000, 1e300}, {0, 3}},
  };
  for (const std::vector<ChartPoint>& points : series) {
    for (const bool braille : {true, false}) {
      for (const unsigned width : {20U, 33U, 200U}) {
        std::istringstream lines(render_chart(points, look_of(width, 9, braille)));
        int count = 0;
        for (std::string line; std::getline(lines, line); ++count) {
          INFO(line);
          CHECK(character_count(line) <= width);
        }
        CHECK(count == 9);
      }
    }
  }
}

}  // namespace
}  // namespace flowcon::plugin
