// SPDX-License-Identifier: Apache-2.0
#include "ctrl/codec/decision_json.h"

#include <string>

#include "base/json.h"
#include "tests/support/catch.h"
#include "tests/support/json_text.h"

namespace {

using flowcon::parse_json;
using flowcon::render_json;
using flowcon::ctrl::List;
using flowcon::test::changed;
using flowcon::test::parsed;
namespace policy = flowcon::ctrl::policy;

constexpr const char* kExecutor =
    R"({"alpha":0.03,"beta":2,"interval":20,"interval_max":300,"floor_all":true,"containers":[)"
    R"({"id":"a","list":"NL","limit":null,"growth":0.1},)"
    R"({"id":"b","list":"WL","limit":0.5,"growth":null},)"
    R"({"id":"c","list":"CL","limit":1,"growth":-0.25}]})";

constexpr const char* kListener = R"({"alpha":0.03,"beta":2,"interval":20,"containers":[)"
                                  R"({"id":"a","list":"NL","limit":null,"growth":0.1}],)"
                                  R"("initial_interval":10,"active":["a","b","a"]})";

std::string executor_complaint(std::string_view text) {
  const auto state = policy::executor_state_from(parsed(text));
  return state ? "" : state.error().message();
}

std::string listener_complaint(std::string_view text) {
  const auto state = policy::listener_state_from(parsed(text));
  return state ? "" : state.error().message();
}

}  // namespace

TEST_CASE("an executor state is read field by field") {
  const auto state = policy::executor_state_from(parsed(kExecutor));
  REQUIRE(state.has_value());
  CHECK(state->alpha == 0.03);
  CHECK(state->beta == 2);
  CHECK(state->interval == 20);
  CHECK(state->interval_max == 300);
  CHECK(state->floor_all);
  REQUIRE(state->containers.size() == 3);
  CHECK(state->containers[0].id == "a");
  CHECK(state->containers[0].list == List::nl);
  CHECK_FALSE(state->containers[0].limit);
  CHECK(state->containers[0].growth == 0.1);
  CHECK(state->containers[1].list == List::wl);
  CHECK(state->containers[1].limit == 0.5);
  CHECK_FALSE(state->containers[1].growth);
  CHECK(state->containers[2].list == List::cl);
  CHECK(state->containers[2].growth == -0.25);
}

TEST_CASE("a state that is written reads back as the same text") {
  const auto executor = policy::executor_state_from(parsed(kExecutor));
  REQUIRE(executor.has_value());
  CHECK(render_json(to_json(*executor)) == kExecutor);
  const auto listener = policy::listener_state_from(parsed(kListener));
  REQUIRE(listener.has_value());
  CHECK(render_json(to_json(*listener)) == kListener);
}

TEST_CASE("unknown fields are ignored, optional ones may be null or absent") {
  const std::string text = changed(kExecutor, R"("interval_max":300,"floor_all":true)",
                                   R"("x":{},"interval_max":null,"floor_all":null)");
  const auto state = policy::executor_state_from(parsed(text));
  REQUIRE(state.has_value());
  CHECK_FALSE(state->interval_max);
  CHECK_FALSE(state->floor_all);
  CHECK(executor_complaint(changed(text, R"({"id")", R"({"y":[1],"id")")).empty());
}

TEST_CASE("what is wrong with an executor state is named with its place") {
  struct Row {
    const char* from;
    const char* to;
    const char* complaint;
  };
  const auto row = GENERATE(values<Row>({
      {R"("alpha":0.03,)", "", "alpha: is missing"},
      {R"("alpha":0.03)", R"("alpha":"x")", R"(alpha: must be a number, not "x")"},
      {R"("alpha":0.03)", R"("alpha":null)", "alpha: must be a number, not null"},
      {R"("beta":2)", R"("beta":0.5)", "beta: must be at least 1, not 0.5"},
      {R"("beta":2)", R"("beta":true)", "beta: must be a number, not true"},
      {R"("interval":20)", R"("interval":0)", "interval: must be above 0, not 0"},
      {R"("interval":20)", R"("interval":{"a":1})", "interval: must be a number, not an object"},
      {R"("interval_max":300)", R"("interval_max":[])",
       "interval_max: must be a number, not an array"},
      {R"("interval_max":300)", R"("interval_max":-1)", "interval_max: must be above 0, not -1"},
      {R"("floor_all":true)", R"("floor_all":1)", "floor_all: must be true or false, not 1"},
      {R"("containers":[)", R"("containers":"x","z":[)",
       R"(containers: must be an array, not "x")"},
      {R"("containers":[)", R"("z":[)", "containers: is missing"},
      {R"({"id":"a","list":"NL","limit":null,"growth":0.1})", "7",
       "containers[0]: must be an object, not 7"},
      {R"("id":"a",)", "", "containers[0].id: is missing"},
      {R"("id":"a")", R"("id":5)", "containers[0].id: must be a string, not 5"},
      {R"("id":"b")", R"("id":"a")", R"(containers[1].id: is there twice: "a")"},
      {R"("list":"CL")", R"("list":"cl")", R"(containers[2].list: must be NL, WL or CL, not "cl")"},
      {R"("list":"CL")", R"("list":null)", "containers[2].list: must be a string, not null"},
      {R"("limit":0.5,)", "", "containers[1].limit: is missing"},
      {R"("limit":0.5)", R"("limit":"1")",
       R"(containers[1].limit: must be a number or null, not "1")"},
      {R"(,"growth":-0.25)", "", "containers[2].growth: is missing"},
      {R"("growth":-0.25)", R"("growth":false)",
       "containers[2].growth: must be a number or null, not false"},
  }));
  CAPTURE(row.to);
  CHECK(executor_complaint(changed(kExecutor, row.from, row.to)) == row.complaint);
}

TEST_CASE("what is shown of a wrong value is one short, safe line") {
  const std::string complaint = executor_complaint(changed(
      kExecutor, R"("list":"CL")", "\"list\":\"\\u001b[31m\\n" + std::string(500, 'x') + '"'));
  CHECK(complaint.starts_with("containers[2].list: must be NL, WL or CL, not \"\xEF\xBF\xBD[31m"));
  CHECK(complaint.size() < 120);
  CHECK(complaint.find('\n') == std::string::npos);
}

TEST_CASE("a state that is no object is an error") {
  CHECK(executor_complaint("[1]") == "the state: must be an object, not an array");
  CHECK(listener_complaint("null") == "the state: must be an object, not null");
}

TEST_CASE("what is wrong with a listener state is named with its place") {
  CHECK(listener_complaint(kListener).empty());
  CHECK(listener_complaint(changed(kListener, R"("initial_interval":10,)", "")) ==
        "initial_interval: is missing");
  CHECK(listener_complaint(changed(kListener, ":10,", ":-1,")) ==
        "initial_interval: must be above 0, not -1");
  CHECK(listener_complaint(changed(kListener, R"(["a","b","a"])", R"({})")) ==
        "active: must be an array, not an object");
  CHECK(listener_complaint(changed(kListener, R"("b","a"])", R"(null])")) ==
        "active[1]: must be a string, not null");
  CHECK(listener_complaint(changed(kListener, R"("beta":2,)", "")) == "beta: is missing");
}

TEST_CASE("decisions have exactly the documented fields, in order") {
  policy::ExecutorDecision executor;
  executor.interval = 40;
  executor.containers = {{"a", List::cl, 0.25}, {"b", List::nl, 1}};
  CHECK(render_json(to_json(executor)) ==
        R"({"interval":40,"all_completing":false,"containers":[)"
        R"({"id":"a","list":"CL","limit":0.25},{"id":"b","list":"NL","limit":1}]})");

  policy::ListenerDecision listener;
  listener.arrived = {"c"};
  listener.departed = {"d"};
  listener.rerun = true;
  listener.interval = 20;
  listener.containers = {{"a", List::wl, std::nullopt, 0.1}, {"c", List::nl, 1, std::nullopt}};
  CHECK(render_json(to_json(listener)) ==
        R"({"arrived":["c"],"departed":["d"],"rerun":true,"interval":20,"containers":[)"
        R"({"id":"a","list":"WL","limit":null},{"id":"c","list":"NL","limit":1}]})");
}
