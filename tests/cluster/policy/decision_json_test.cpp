// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec/decision_json.h"

#include <limits>
#include <string>

#include "base/json.h"
#include "tests/support/catch.h"
#include "tests/support/json_text.h"

namespace {

using flowcon::parse_json;
using flowcon::render_json;
using flowcon::test::changed;
using flowcon::test::parsed;
namespace policy = flowcon::cluster::policy;

constexpr const char* kCategorise =
    R"({"alpha":0.01,"containers":[)"
    R"({"id":"a","category":"PC","value":0.5,"previous_value":0.75,"previous_growth":null,"migrated":false},)"
    R"({"id":"b","category":"WC","value":null,"previous_value":-1,"previous_growth":0.1,"migrated":true},)"
    R"({"id":"c","category":"CC","value":2,"previous_value":null,"previous_growth":3,"migrated":false}]})";

constexpr const char* kSpeculate =
    R"({"weights":{"pc":2,"wc":1.5,"cc":1},"container":"x","source":"b","workers":[)"
    R"({"id":"a","pc":1,"wc":2,"cc":3,"usage":0.25},{"id":"b","pc":0,"wc":0,"cc":4,"usage":1}]})";

constexpr const char* kRebalance =
    R"({"now":100.5,"guard":true,"rounding":"ceil","fill":true,"workers":[)"
    R"({"id":"h1","containers":[{"id":"a","converged_at":90,"migrated_at":null,"rebalanced":false},)"
    R"({"id":"b","converged_at":null,"migrated_at":95.5,"rebalanced":true}]},)"
    R"({"id":"h2","containers":[{"id":"c","converged_at":80,"migrated_at":85,"rebalanced":false}]}]})";

template <class State>
std::string complaint_of(const flowcon::Result<State>& state) {
  return state ? "" : state.error().message();
}

std::string categorise_complaint(std::string_view text) {
  return complaint_of(policy::categorise_state_from(parsed(text)));
}

std::string speculate_complaint(std::string_view text) {
  return complaint_of(policy::speculate_state_from(parsed(text)));
}

std::string rebalance_complaint(std::string_view text) {
  return complaint_of(policy::rebalance_state_from(parsed(text)));
}

std::string steer_complaint(std::string_view text) {
  return complaint_of(policy::steer_state_from(parsed(text)));
}

struct Row {
  const char* from;
  const char* to;
  const char* complaint;
};

}  // namespace

TEST_CASE("a categorise state is read field by field") {
  const auto state = policy::categorise_state_from(parsed(kCategorise));
  REQUIRE(state.has_value());
  CHECK(state->alpha == 0.01);
  REQUIRE(state->containers.size() == 3);
  CHECK(state->containers[0].id == "a");
  CHECK(state->containers[0].category == policy::Category::pc);
  CHECK(state->containers[0].value == 0.5);
  CHECK(state->containers[0].previous_value == 0.75);
  CHECK_FALSE(state->containers[0].previous_growth);
  CHECK_FALSE(state->containers[0].migrated);
  CHECK(state->containers[1].category == policy::Category::wc);
  CHECK_FALSE(state->containers[1].value);
  CHECK(state->containers[1].previous_growth == 0.1);
  CHECK(state->containers[1].migrated);
  CHECK(state->containers[2].category == policy::Category::cc);
  CHECK_FALSE(state->containers[2].previous_value);
}

TEST_CASE("a speculate state is read field by field") {
  const auto state = policy::speculate_state_from(parsed(kSpeculate));
  REQUIRE(state.has_value());
  CHECK(state->weights.pc == 2);
  CHECK(state->weights.wc == 1.5);
  CHECK(state->weights.cc == 1);
  CHECK(state->container == "x");
  CHECK(state->source == "b");
  REQUIRE(state->workers.size() == 2);
  CHECK(state->workers[0].id == "a");
  CHECK(state->workers[0].counts.pc == 1);
  CHECK(state->workers[0].counts.wc == 2);
  CHECK(state->workers[0].counts.cc == 3);
  CHECK(state->workers[0].usage == 0.25);
}

TEST_CASE("a rebalance state is read field by field") {
  const auto state = policy::rebalance_state_from(parsed(kRebalance));
  REQUIRE(state.has_value());
  CHECK(state->now == 100.5);
  CHECK(state->guard);
  CHECK(state->rounding == policy::Rounding::ceil);
  CHECK(state->fill);
  REQUIRE(state->workers.size() == 2);
  CHECK(state->workers[0].id == "h1");
  REQUIRE(state->workers[0].containers.size() == 2);
  CHECK(state->workers[0].containers[0].id == "a");
  CHECK(state->workers[0].containers[0].converged_at == 90);
  CHECK_FALSE(state->workers[0].containers[0].migrated_at);
  CHECK_FALSE(state->workers[0].containers[0].rebalanced);
  CHECK_FALSE(state->workers[0].containers[1].converged_at);
  CHECK(state->workers[0].containers[1].migrated_at == 95.5);
  CHECK(state->workers[0].containers[1].rebalanced);
}

TEST_CASE("the states of the cluster that are written read back as the same text") {
  CHECK(render_json(to_json(*policy::categorise_state_from(parsed(kCategorise)))) == kCategorise);
  CHECK(render_json(to_json(*policy::speculate_state_from(parsed(kSpeculate)))) == kSpeculate);
  CHECK(render_json(to_json(*policy::rebalance_state_from(parsed(kRebalance)))) == kRebalance);
  const std::string plain =
      changed(kRebalance, R"("guard":true,"rounding":"ceil","fill":true,)", "");
  CHECK(render_json(to_json(*policy::rebalance_state_from(parsed(plain)))) == plain);
}

TEST_CASE("what is not finite is written as not measured, and decides the same") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  policy::CategoriseState state;
  state.containers = {
      {"a", policy::Category::wc, nan, 1, 2, false},
      {"b", policy::Category::wc, 1, 1, std::numeric_limits<double>::infinity(), false}};
  const auto again = policy::categorise_state_from(parsed(render_json(to_json(state))));
  REQUIRE(again.has_value());
  CHECK_FALSE(again->containers[0].value);
  CHECK_FALSE(again->containers[1].previous_growth);
  CHECK(render_json(to_json(decide_categorise(*again))) ==
        render_json(to_json(decide_categorise(state))));

  policy::RebalanceState rebalance;
  rebalance.workers = {{"h1", {{"a", nan, -nan, false}}}};
  const auto reread = policy::rebalance_state_from(parsed(render_json(to_json(rebalance))));
  REQUIRE(reread.has_value());
  CHECK_FALSE(reread->workers[0].containers[0].converged_at);
  CHECK_FALSE(reread->workers[0].containers[0].migrated_at);
}

TEST_CASE("unknown fields of the cluster's states are ignored, extensions may be null or absent") {
  CHECK(categorise_complaint(changed(kCategorise, R"({"id")", R"({"x":[1],"id")")).empty());
  CHECK(speculate_complaint(changed(kSpeculate, R"({"pc")", R"({"x":{},"pc")")).empty());
  const std::string text = changed(kRebalance, R"("guard":true,"rounding":"ceil","fill":true)",
                                   R"("guard":null,"rounding":null,"fill":null,"x":1)");
  const auto state = policy::rebalance_state_from(parsed(text));
  REQUIRE(state.has_value());
  CHECK_FALSE(state->guard);
  CHECK(state->rounding == policy::Rounding::floor);
  CHECK_FALSE(state->fill);
  CHECK(policy::rebalance_state_from(
            parsed(changed(text, R"("rounding":null)", R"("rounding":"floor")")))
            ->rounding == policy::Rounding::floor);
}

TEST_CASE("what is wrong with a categorise state is named with its place") {
  const auto row = GENERATE(values<Row>({
      {R"("alpha":0.01,)", "", "alpha: is missing"},
      {R"("alpha":0.01)", R"("alpha":null)", "alpha: must be a number, not null"},
      {R"("containers")", R"("x")", "containers: is missing"},
      {R"("id":"a",)", "", "containers[0].id: is missing"},
      {R"("id":"c")", R"("id":"a")", R"(containers[2].id: is there twice: "a")"},
      {R"("category":"WC")", R"("category":"NL")",
       R"(containers[1].category: must be PC, WC or CC, not "NL")"},
      {R"("category":"WC")", R"("category":1)", "containers[1].category: must be a string, not 1"},
      {R"("value":0.5,)", "", "containers[0].value: is missing"},
      {R"("value":0.5)", R"("value":"nan")",
       R"(containers[0].value: must be a number or null, not "nan")"},
      {R"("previous_value":0.75,)", "", "containers[0].previous_value: is missing"},
      {R"("previous_growth":null,)", "", "containers[0].previous_growth: is missing"},
      {R"(,"migrated":true)", "", "containers[1].migrated: is missing"},
      {R"("migrated":true)", R"("migrated":null)",
       "containers[1].migrated: must be true or false, not null"},
  }));
  CAPTURE(row.to);
  CHECK(categorise_complaint(changed(kCategorise, row.from, row.to)) == row.complaint);
}

TEST_CASE("what is wrong with a speculate state is named with its place") {
  const auto row = GENERATE(values<Row>({
      {R"("weights":{"pc":2,"wc":1.5,"cc":1},)", "", "weights: is missing"},
      {R"({"pc":2,"wc":1.5,"cc":1})", "2", "weights: must be an object, not 2"},
      {R"("wc":1.5,)", "", "weights.wc: is missing"},
      {R"("pc":2)", R"("pc":"2")", R"(weights.pc: must be a number, not "2")"},
      {R"("pc":2)", R"("pc":1.5)", "weights.pc: must be above that of wc, not 1.5"},
      {R"("wc":1.5)", R"("wc":1)", "weights.wc: must be above that of cc, not 1"},
      {R"("cc":1})", R"("cc":0})", "weights.cc: must be above 0, not 0"},
      {R"("container":"x",)", "", "container: is missing"},
      {R"("source":"b")", R"("source":null)", "source: must be a string, not null"},
      {R"("source":"b")", R"("source":"x")", R"(source: must be the id of a worker, not "x")"},
      {R"("workers":[)", R"("workers":[],"x":[)", R"(source: must be the id of a worker, not "b")"},
      {R"("id":"a")", R"("id":"b")", R"(workers[1].id: is there twice: "b")"},
      {R"("wc":2,)", "", "workers[0].wc: is missing"},
      {R"("cc":3)", R"("cc":-1)", "workers[0].cc: must be a whole number from 0 to 2^53, not -1"},
      {R"("cc":3)", R"("cc":0.5)", "workers[0].cc: must be a whole number from 0 to 2^53, not 0.5"},
      {R"("cc":3)", R"("cc":1e300)",
       "workers[0].cc: must be a whole number from 0 to 2^53, not 1e+300"},
      {R"("cc":3)", R"("cc":null)", "workers[0].cc: must be a number, not null"},
      {R"("usage":0.25)", R"("usage":null)", "workers[0].usage: must be a number, not null"},
      {R"(,"usage":1)", "", "workers[1].usage: is missing"},
  }));
  CAPTURE(row.to);
  CHECK(speculate_complaint(changed(kSpeculate, row.from, row.to)) == row.complaint);
}

TEST_CASE("a count may be written as any number that is whole") {
  const auto state =
      policy::speculate_state_from(parsed(changed(kSpeculate, R"("cc":3)", R"("cc":3.0e0)")));
  REQUIRE(state.has_value());
  CHECK(state->workers[0].counts.cc == 3);
}

TEST_CASE("what is wrong with a rebalance state is named with its place") {
  const auto row = GENERATE(values<Row>({
      {R"("now":100.5,)", "", "now: is missing"},
      {R"("guard":true)", R"("guard":1)", "guard: must be true or false, not 1"},
      {R"("fill":true)", R"("fill":"yes")", R"(fill: must be true or false, not "yes")"},
      {R"("rounding":"ceil")", R"("rounding":"up")",
       R"(rounding: must be floor or ceil, not "up")"},
      {R"("rounding":"ceil")", R"("rounding":1)", "rounding: must be a string, not 1"},
      {R"("workers":[)", R"("x":[)", "workers: is missing"},
      {R"("workers":[)", R"("workers":[],"x":[)", "workers: must hold at least one"},
      {R"("id":"h2")", R"("id":"h1")", R"(workers[1].id: is there twice: "h1")"},
      {R"("id":"b")", R"("id":"a")", R"(workers[0].containers[1].id: is there twice: "a")"},
      {R"("id":"c")", R"("id":"a")", R"(workers[1].containers[0].id: is there twice: "a")"},
      {R"("id":"h2","containers":[)", R"("id":"h2","x":[)", "workers[1].containers: is missing"},
      {R"("converged_at":80,)", "", "workers[1].containers[0].converged_at: is missing"},
      {R"("converged_at":80)", R"("converged_at":"80")",
       R"(workers[1].containers[0].converged_at: must be a number or null, not "80")"},
      {R"("migrated_at":95.5,)", "", "workers[0].containers[1].migrated_at: is missing"},
      {R"(,"rebalanced":true)", "", "workers[0].containers[1].rebalanced: is missing"},
      {R"("rebalanced":true)", R"("rebalanced":0)",
       "workers[0].containers[1].rebalanced: must be true or false, not 0"},
  }));
  CAPTURE(row.to);
  CHECK(rebalance_complaint(changed(kRebalance, row.from, row.to)) == row.complaint);
}

const std::string kSteer =
    R"({"move_seconds":5.5,"max_moves":2,"gain":3,"hosts":[{"id":"h1","cores":8,"containers":[)"
    R"({"id":"a","left":900.5,"width":2,"moves":1,"may_move":true},)"
    R"({"id":"b","left":3,"width":8,"moves":0,"may_move":false}]},)"
    R"({"id":"h2","cores":4,"containers":[]}]})";

TEST_CASE("a steer state is read and written as it is") {
  const auto state = policy::steer_state_from(*parse_json(kSteer));
  REQUIRE(state.has_value());
  CHECK(render_json(to_json(*state)) == kSteer);
  CHECK(state->hosts[0].jobs[0].left == 900.5);
  CHECK(state->hosts[0].jobs[0].moves == 1);
  CHECK_FALSE(state->hosts[0].jobs[1].may_move);
}

TEST_CASE("what is wrong with a steer state is named with its place") {
  const auto row = GENERATE(values<Row>({
      {R"("move_seconds":5.5,)", "", "move_seconds: is missing"},
      {R"("move_seconds":5.5)", R"("move_seconds":-1)", "move_seconds: must be at least 0, not -1"},
      {R"("max_moves":2)", R"("max_moves":1.5)",
       "max_moves: must be a whole number from 0 to 2^53, not 1.5"},
      {R"("max_moves":2)", R"("max_moves":1000001)",
       "max_moves: must be at most 1000000, not 1000001"},
      {R"("gain":3)", R"("gain":-3)", "gain: must be at least 0, not -3"},
      {R"("hosts":[)", R"("x":[)", "hosts: is missing"},
      {R"("id":"h2")", R"("id":"h1")", R"(hosts[1].id: is there twice: "h1")"},
      {R"("id":"b")", R"("id":"a")", R"(hosts[0].containers[1].id: is there twice: "a")"},
      {R"("cores":4)", R"("cores":0)", "hosts[1].cores: must be above 0, not 0"},
      {R"("left":3)", R"("left":-3)", "hosts[0].containers[1].left: must be above 0, not -3"},
      {R"("width":2)", R"("width":null)",
       "hosts[0].containers[0].width: must be a number, not null"},
      {R"("moves":1)", R"("moves":-1)",
       "hosts[0].containers[0].moves: must be a whole number from 0 to 2^53, not -1"},
      {R"(,"may_move":false)", "", "hosts[0].containers[1].may_move: is missing"},
  }));
  CAPTURE(row.to);
  CHECK(steer_complaint(changed(kSteer, row.from, row.to)) == row.complaint);
}

TEST_CASE("a cluster's state that is no object is an error") {
  CHECK(steer_complaint("7") == "the state: must be an object, not 7");
  CHECK(categorise_complaint("[1]") == "the state: must be an object, not an array");
  CHECK(speculate_complaint("null") == "the state: must be an object, not null");
  CHECK(rebalance_complaint("7") == "the state: must be an object, not 7");
}

TEST_CASE("the cluster's decisions have exactly the documented fields, in order") {
  policy::CategoriseDecision categorise;
  categorise.containers = {{"a", policy::Category::wc, 0.25},
                           {"b", policy::Category::cc, std::nullopt}};
  categorise.requests = {"b"};
  CHECK(render_json(to_json(categorise)) ==
        R"({"containers":[{"id":"a","category":"WC","growth":0.25},)"
        R"({"id":"b","category":"CC","growth":null}],"requests":["b"]})");

  policy::SpeculateDecision speculate;
  speculate.scores = {{"z", 4.5}, {"a", 2}, {"", 2}};
  speculate.candidates = {"a", ""};
  speculate.target = "a";
  speculate.move = true;
  CHECK(render_json(to_json(speculate)) ==
        R"({"scores":{"z":4.5,"a":2,"":2},"candidates":["a",""],"target":"a","move":true})");

  policy::RebalanceDecision rebalance;
  rebalance.balance_factor = 4;
  CHECK(render_json(to_json(rebalance)) == R"({"balance_factor":4,"branch":"uneven","moves":[]})");
  rebalance.branch = policy::Branch::idle;
  rebalance.moves = {{"c", "h1", "h2"}};
  CHECK(render_json(to_json(rebalance)) == R"({"balance_factor":4,"branch":"idle","moves":[)"
                                           R"({"container":"c","from":"h1","to":"h2"}]})");
  policy::SteerDecision steer;
  CHECK(render_json(to_json(steer)) == R"({"moves":[]})");
  steer.moves = rebalance.moves;
  CHECK(render_json(to_json(steer)) == R"({"moves":[{"container":"c","from":"h1","to":"h2"}]})");
}
