// SPDX-License-Identifier: Apache-2.0
#include "ctrl/codec/estimate_json.h"

#include <string>

#include "base/json.h"
#include "tests/support/catch.h"
#include "tests/support/json_text.h"

namespace {

using namespace flowcon::ctrl::estimate;
using flowcon::render_json;
using flowcon::test::changed;
using flowcon::test::parsed;

constexpr const char* kState =
    R"({"quantile":0.9,"seed":1,"history":[{"family":"f","key":"k","age":5,)"
    R"("features":{"arg.lr":0.1,"arg.opt":"adam"},"labels":{"mem":3,"cpu":2}}],)"
    R"("jobs":[{"id":"j","family":"f","key":"k","features":{"workers":2}}]})";

std::string complaint(const std::string& text) {
  const auto state = estimate_state_from(parsed(text));
  return state ? "" : state.error().message();
}

std::string many(const std::string& before, const std::string& after, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += (i > 0 ? "," : "") + before + std::to_string(i) + after;
  }
  return text;
}

}  // namespace

TEST_CASE("a state of the estimate is written as it is read") {
  const auto state = estimate_state_from(parsed(kState));
  REQUIRE(state.has_value());
  CHECK(render_json(to_json(*state)) == kState);
  CHECK(
      render_json(to_json(decide_estimate(*state))) ==
      R"({"jobs":[{"id":"j","labels":{"mem":{"expected":null,"upper":null,"basis":"none","rows":0},)"
      R"("cpu":{"expected":null,"upper":null,"basis":"none","rows":0}}}]})");
}

TEST_CASE("a wrong state of the estimate names the field") {
  const auto [from, to, field] = GENERATE(table<std::string, std::string, std::string>({
      {R"("quantile":0.9,)", "", "quantile"},
      {R"("quantile":0.9)", R"("quantile":1.1)", "quantile"},
      {R"("quantile":0.9)", R"("quantile":"0.9")", "quantile"},
      {R"("seed":1,)", "", "seed"},
      {R"("seed":1)", R"("seed":1.5)", "seed"},
      {R"("seed":1)", R"("seed":-1)", "seed"},
      {R"("history":)", R"("past":)", "history"},
      {R"("family":"f",)", "", "history[0].family"},
      {R"("key":"k")", R"("key":1)", "history[0].key"},
      {R"("age":5)", R"("age":null)", "history[0].age"},
      {R"({"arg.lr":0.1,"arg.opt":"adam"})", "[]", "history[0].features"},
      {R"("arg.lr":0.1)", R"("arg.lr":true)", "history[0].features.arg.lr"},
      {R"("arg.opt":"adam")", R"("arg.opt":null)", "history[0].features.arg.opt"},
      {R"({"mem":3,"cpu":2})", "3", "history[0].labels"},
      {R"("mem":3)", R"("mem":0)", "history[0].labels.mem"},
      {R"("cpu":2)", R"("cpu":"2")", "history[0].labels.cpu"},
      {R"("jobs":)", R"("job":)", "jobs"},
      {R"("id":"j",)", "", "jobs[0].id"},
      {R"("id":"j","family":"f")", R"("id":"j")", "jobs[0].family"},
      {R"("key":"k","features":{"workers":2})", R"("features":{"workers":2})", "jobs[0].key"},
      {R"({"workers":2})", R"({"workers":[]})", "jobs[0].features.workers"},
      {R"({"workers":2}}])", R"({"workers":2}},{"id":"j","family":"f","key":"k","features":{}}])",
       "jobs[1].id"},
  }));
  CAPTURE(from, to);
  CHECK(complaint(changed(kState, from, to)).find(field) != std::string::npos);
}

TEST_CASE("a state of the estimate is bounded") {
  const std::string features = R"({"arg.lr":0.1,"arg.opt":"adam"})";
  CHECK(complaint(changed(kState, features, "{" + many("\"f", "\":1", 64) + "}")) == "");
  CHECK(complaint(changed(kState, features, "{" + many("\"f", "\":1", 65) + "}"))
            .find("history[0].features") != std::string::npos);
  const std::string run = R"({"family":"f","key":"k","age":1,"features":{},"labels":{"l)";
  CHECK(complaint(R"({"quantile":0.9,"seed":1,"jobs":[],"history":[)" + many(run, "\":1}}", 65) +
                  "]}")
            .find("history[64].labels.l64") != std::string::npos);
}

TEST_CASE("one run of a history is read and written by itself") {
  const std::string run =
      R"({"family":"f","key":"k","age":5,"features":{"workers":1,"arg.opt":"adam"},)"
      R"("labels":{"mem":3}})";
  const auto profile = profile_from(parsed(run));
  REQUIRE(profile.has_value());
  CHECK(render_json(to_json(*profile)) == run);
  const auto wrong = profile_from(parsed(changed(run, ":3", ":-3")));
  REQUIRE_FALSE(wrong.has_value());
  CHECK(wrong.error().message().find("labels.mem") != std::string::npos);
}
