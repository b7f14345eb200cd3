// SPDX-License-Identifier: Apache-2.0
#include "ctrl/control.h"

#include "tests/support/catch.h"

using namespace flowcon::ctrl;

TEST_CASE("control survives the store exactly") {
  Control control;
  control.is_paused = true;
  control.pin = Pin{0.1, 1790000000.25};
  control.values = {{"weight", "2"}, {"only-grow", "true"}};
  const auto back = parse_control(render_control(control));
  REQUIRE(back.has_value());
  CHECK(*back == control);
}

TEST_CASE("no control is no text, and no text is no control") {
  CHECK(render_control(Control()).empty());
  CHECK(*parse_control("") == Control());
}

TEST_CASE("a state that is not control is an error") {
  CHECK_FALSE(parse_control("{").has_value());
  CHECK_FALSE(parse_control("[]").has_value());
  CHECK_FALSE(parse_control(R"({"pin":{}})").has_value());
  CHECK_FALSE(parse_control(R"({"values":{"weight":"-1"}})").has_value());
}

TEST_CASE("a pin is a share, for a time or for good") {
  CHECK(*parse_pin(R"({"cpu":"0.5","for":"7200"})", 1000) == Pin{0.5, 8200});
  CHECK(*parse_pin(R"({"cpu":"1"})", 1000) == Pin{1, {}});
  // As it is read back after a restart.
  Control least;
  least.pin = *parse_pin(R"({"cpu":"0.000000001"})", 1000);
  CHECK(*parse_control(render_control(least)) == least);
}

TEST_CASE("a wrong pin is refused with the reason") {
  for (const char* body : {"", "{}", R"({"cpu":"0"})", R"({"cpu":"1.5"})", R"({"cpu":"nan"})",
                           R"({"cpu":0.5})", R"({"for":"60"})", R"({"cpu":"0.5","for":"-1"})",
                           R"({"cpu":"0.5","for":"1e300"})", R"({"cpu":"0.5","memory":"1"})"}) {
    INFO(body);
    CHECK_FALSE(parse_pin(body, 0).has_value());
  }
}

TEST_CASE("set puts values over what was set, and none takes one back") {
  Control control;
  REQUIRE(merge_values(control, R"({"weight":"2","floor":"0.1"})").has_value());
  REQUIRE(merge_values(control, R"({"weight":"none","ceiling":"0.5"})").has_value());
  CHECK(control.values == std::map<std::string, std::string>{{"ceiling", "0.5"}, {"floor", "0.1"}});
}

TEST_CASE("a wrong value changes nothing") {
  Control control;
  REQUIRE(merge_values(control, R"({"weight":"2"})").has_value());
  for (const char* body : {"{}", R"({"weight":"3","floor":"7"})", R"({"metric":"loss"})",
                           R"({"weight":3})", R"({"only-grow":"maybe"})"}) {
    INFO(body);
    CHECK_FALSE(merge_values(control, body).has_value());
    CHECK(control.values.at("weight") == "2");
    CHECK(control.values.size() == 1);
  }
}

TEST_CASE("what a person sets takes the place of the label") {
  Control control;
  REQUIRE(merge_values(control, R"({"weight":"4","only-grow":"true"})").has_value());
  const Settings settings =
      with_values(parse_labels({{"flowcon.weight", "2"}, {"flowcon.floor", "0.2"}}), control);
  CHECK(settings.weight == 4);
  CHECK(*settings.floor == 0.2);
  CHECK(settings.only_grow);
}

TEST_CASE("floor, ceiling, only-grow and pin decide what is granted, in this order") {
  Settings settings;
  CHECK(grant(0.3, 1, settings, {}) == 0.3);
  settings.floor = 0.4;
  CHECK(grant(0.3, 1, settings, {}) == 0.4);
  settings.only_grow = true;
  CHECK(grant(0.3, 0.9, settings, {}) == 0.9);
  CHECK(grant(1, 0.9, settings, {}) == 1);
  settings.ceiling = 0.35;
  CHECK(grant(0.3, 0.9, settings, {}) == 0.35);
  CHECK(grant(0.3, 0.9, settings, Pin{0.7, {}}) == 0.7);
}

TEST_CASE("a floor above the ceiling is told") {
  CHECK(parse_labels({{"flowcon.floor", "0.5"}, {"flowcon.ceiling", "0.2"}}).warnings.size() == 1);
}
