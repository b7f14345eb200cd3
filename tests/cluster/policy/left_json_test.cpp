// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec/left_json.h"

#include <string>

#include "base/json.h"
#include "tests/support/catch.h"
#include "tests/support/json_text.h"

namespace {

using flowcon::render_json;
using flowcon::test::changed;
using flowcon::test::parsed;
namespace policy = flowcon::cluster::policy;

constexpr const char* kState =
    R"({"starve_limit":50,"growth":0.5,"network":3,"pause":1,"gain":4,)"
    R"("nodes":[{"id":"h1","cap":{"cpu":8,"mem":32},"idle":{"cpu":1.5}},)"
    R"({"id":"h2","cap":{"cpu":4},"idle":{"cpu":3,"gpu":2}}],)"
    R"("jobs":[{"id":"w","since":-40,"waited":20,"served":0,"min":1,"max":3,"ps":1,)"
    R"("worker_request":{"cpu":2,"mem":0},"ps_request":{"cpu":0.5}},)"
    R"({"id":"r","since":10,"waited":60,"served":30,"left":25.5,"min":2,"max":4,"ps":1,)"
    R"("worker_request":{"cpu":1},"ps_request":{},)"
    R"("placed":{"ps":{"h2":1},"workers":{"h1":2,"h2":1}}}],"totals":[100,0.5],)"
    R"("soon":{"h2":{"cpu":2}}})";

std::string complaint(const std::string& text) {
  const auto state = policy::left_state_from(parsed(text));
  return state ? "" : state.error().message();
}

}  // namespace

TEST_CASE("a state of the queue by what is left that is written reads back as the same text") {
  const auto state = policy::left_state_from(parsed(kState));
  REQUIRE(state.has_value());
  CHECK(render_json(to_json(*state)) == kState);
  CHECK_FALSE(state->jobs[0].left.has_value());
  CHECK(state->jobs[1].left == 25.5);
}

TEST_CASE("what is optional by what is left may be null or absent, unknown fields are ignored") {
  std::string text = kState;
  for (const char* option :
       {R"("growth":0.5)", R"("network":3)", R"("pause":1)", R"("gain":4)", R"("left":25.5)",
        R"("totals":[100,0.5])", R"("soon":{"h2":{"cpu":2}})"}) {
    const std::string word(option, std::string(option).find(':'));
    text = changed(text, option, word + R"(:null,"x":[])");
  }
  text = changed(text, R"("placed":{"ps":{"h2":1},"workers":{"h1":2,"h2":1}})", R"("placed":null)");
  const auto state = policy::left_state_from(parsed(text));
  REQUIRE(state.has_value());
  const policy::LeftState plain;
  CHECK(state->growth == plain.growth);
  CHECK(state->network == plain.network);
  CHECK(state->pause == plain.pause);
  CHECK(state->gain == plain.gain);
  CHECK(state->totals.empty());
  CHECK_FALSE(state->jobs[1].left.has_value());
  CHECK(state->jobs[1].job.placed.workers.empty());
}

TEST_CASE("a decision by what is left is written as it is documented") {
  const std::string text =
      R"({"starve_limit":300,"nodes":[{"id":"n","cap":{"cpu":5},"idle":{"cpu":0}}],)"
      R"("jobs":[{"id":"long","since":0,"waited":0,"served":100,"left":900,"min":2,"max":4,"ps":1,)"
      R"("worker_request":{"cpu":1},"ps_request":{"cpu":1},)"
      R"("placed":{"ps":{"n":1},"workers":{"n":4}}},)"
      R"({"id":"late","since":9,"waited":301,"served":0,"min":2,"max":3,"ps":0,)"
      R"("worker_request":{"cpu":1},"ps_request":{}}],"totals":[40]})";
  const auto state = policy::left_state_from(parsed(text));
  REQUIRE(state.has_value());
  CHECK(render_json(to_json(*policy::decide_left(*state))) ==
        R"({"jobs":[{"id":"late","left":1000,"guessed":true,"starved":true,"change":"start",)"
        R"("placed":{"ps":{},"workers":{"n":3}}},)"
        R"({"id":"long","left":900,"guessed":false,"starved":false,"change":"park",)"
        R"("placed":{"ps":{},"workers":{}}}],"nodes":[{"id":"n","idle":{"cpu":2}}]})");
}

TEST_CASE("what is wrong with a state by what is left is named with its place") {
  struct Row {
    const char* from;
    const char* to;
    const char* complaint;
  };
  const auto row = GENERATE(values<Row>({
      {R"("starve_limit":50,)", "", "starve_limit: is missing"},
      {R"("starve_limit":50)", R"("starve_limit":-1)", "starve_limit: is out of its range, not -1"},
      {R"("growth":0.5)", R"("growth":1.5)", "growth: is out of its range, not 1.5"},
      {R"("network":3)", R"("network":-3)", "network: is out of its range, not -3"},
      {R"("pause":1)", R"("pause":"nan")", R"(pause: must be a number, not "nan")"},
      {R"("gain":4)", R"("gain":1e7)", "gain: is out of its range, not 10000000"},
      {R"("nodes")", R"("x")", "nodes: is missing"},
      {R"("id":"h2")", R"("id":"h1")", R"(nodes[1].id: is there twice: "h1")"},
      {R"("cap":{"cpu":4})", R"("cap":{"cpu":-4})", "nodes[1].cap.cpu: must be at least 0, not -4"},
      {R"("jobs")", R"("x")", "jobs: is missing"},
      {R"("id":"r")", R"("id":"w")", R"(jobs[1].id: is there twice: "w")"},
      {R"("since":-40,)", "", "jobs[0].since: is missing"},
      {R"("since":-40)", R"("since":-2e12)",
       "jobs[0].since: is out of its range, not -2000000000000"},
      {R"("waited":20,)", "", "jobs[0].waited: is missing"},
      {R"("waited":20)", R"("waited":-20)", "jobs[0].waited: is out of its range, not -20"},
      {R"("waited":20)", R"("waited":"nan")", R"(jobs[0].waited: must be a number, not "nan")"},
      {R"("served":30,)", "", "jobs[1].served: is missing"},
      {R"("served":30)", R"("served":-1)", "jobs[1].served: is out of its range, not -1"},
      {R"("served":30)", R"("served":1e13)",
       "jobs[1].served: is out of its range, not 10000000000000"},
      {R"("left":25.5)", R"("left":-0.5)", "jobs[1].left: is out of its range, not -0.5"},
      {R"("left":25.5)", R"("left":"inf")", R"(jobs[1].left: must be a number, not "inf")"},
      {R"("cap":{"cpu":4})", R"("cap":{"cpu":1e300})",
       "nodes[1].cap.cpu: must be at most 10^18, not 1e+300"},
      {R"("left":25.5)", R"("left":1e300)", "jobs[1].left: is out of its range, not 1e+300"},
      {R"("min":1)", R"("min":0)", "jobs[0].min: must be at least 1, not 0"},
      {R"("max":4)", R"("max":1)", "jobs[1].max: must be at least min, not 1"},
      {R"("ps":1,"worker_request":{"cpu":2)", R"("ps":-1,"worker_request":{"cpu":2)",
       "jobs[0].ps: must be a whole number from 0 to 2^53, not -1"},
      {R"("worker_request":{"cpu":1},)", "", "jobs[1].worker_request: is missing"},
      {R"("workers":{"h1":2,)", R"("workers":{"h3":2,)",
       "jobs[1].placed.workers.h3: is the id of no node"},
      {R"("workers":{"h1":2,)", R"("workers":{"h1":2e9,)",
       "jobs[1].placed.workers.h1: must be at most 10^9, not 2000000000"},
      {R"("placed":{"ps":{"h2":1},)", R"("placed":{)", "jobs[1].placed.ps: is missing"},
      {R"([100,0.5])", R"([100,-1])", "totals[1]: must be a number from 0 to 10^12"},
      {R"([100,0.5])", R"(["nan"])", "totals[0]: must be a number from 0 to 10^12"},
      {R"([100,0.5])", R"({})", "totals: must be an array, not an object"},
  }));
  CAPTURE(row.to);
  CHECK(complaint(changed(kState, row.from, row.to)) == row.complaint);
}

TEST_CASE("a state by what is left with totals without end is refused") {
  std::string totals = "1";
  for (int i = 0; i < 1'000'000; ++i) totals += ",1";
  CHECK(complaint(changed(kState, "100,0.5", totals)) == "totals: are more than 1000000");
}
