// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec/queue_json.h"

#include <string>

#include "base/json.h"
#include "cluster/policy/explain_queue.h"
#include "tests/support/catch.h"
#include "tests/support/json_text.h"

namespace {

using flowcon::render_json;
using flowcon::test::changed;
using flowcon::test::parsed;
namespace policy = flowcon::cluster::policy;

constexpr const char* kState =
    R"({"now":100,"starve_limit":50,"basis":"job","prune":true,"repeat":true,"check_after":false,)"
    R"("starve_everywhere":false,"nodes":[{"id":"h1","cap":{"cpu":8,"mem":32},"idle":{"cpu":1.5}},)"
    R"({"id":"h2","cap":{"cpu":4},"idle":{"cpu":-1,"gpu":2}}],)"
    R"("waiting":[{"id":"w","since":40,"weight":0.75,"min":1,"max":3,"ps":1,)"
    R"("worker_request":{"cpu":2,"mem":0},"ps_request":{"cpu":0.5}}],)"
    R"("running":[{"id":"r","since":10,"weight":0.5,"min":2,"max":4,"ps":1,)"
    R"("worker_request":{"cpu":1},"ps_request":{},)"
    R"("placed":{"ps":{"h2":1},"workers":{"h1":2,"h2":1}},"done":true}],)"
    R"("new":[{"id":"n","since":90,"min":1,"max":1,"ps":0,"worker_request":{"cpu":1},)"
    R"("ps_request":{}}]})";

std::string complaint(const std::string& text) {
  const auto state = policy::queue_state_from(parsed(text));
  return state ? "" : state.error().message();
}

std::string decided(const std::string& text) {
  const auto state = policy::queue_state_from(parsed(text));
  REQUIRE(state.has_value());
  const auto decision = policy::decide_queue(*state);
  REQUIRE(decision.has_value());
  return render_json(to_json(*decision));
}

std::string explained(const std::string& text, const std::string& id) {
  const auto state = policy::queue_state_from(parsed(text));
  REQUIRE(state.has_value());
  flowcon::ctrl::policy::About about;
  about.id = id;
  about.host_name = [](const std::string& host) { return host == "h1" ? "gpu1" : host; };
  const auto sentence = explain(*state, *policy::decide_queue(*state), about);
  return sentence ? *sentence : sentence.error().message();
}

}  // namespace

TEST_CASE("a state of the queue that is written reads back as the same text") {
  CHECK(render_json(to_json(*policy::queue_state_from(parsed(kState)))) == kState);
}

TEST_CASE("options of the queue may be null or absent, unknown fields are ignored") {
  std::string text = kState;
  for (const char* option : {R"("basis":"job")", R"("prune":true)", R"("repeat":true)",
                             R"("check_after":false)", R"("starve_everywhere":false)"}) {
    const std::string word(option, std::string(option).find(':'));
    text = changed(text, option, word + ":null");
  }
  text = changed(text, R"("since":90)", R"("since":null,"weight":"x")");
  text = changed(text, R"("done":true)", R"("done":null,"x":[])");
  const auto state = policy::queue_state_from(parsed(text));
  REQUIRE(state.has_value());
  CHECK(state->basis == policy::WeightBasis::worker);
  CHECK_FALSE(state->prune);
  CHECK_FALSE(state->repeat);
  CHECK(state->check_after);
  CHECK(state->starve_everywhere);
  CHECK(state->arriving[0].since == 100);
  CHECK_FALSE(state->running[0].done);
}

TEST_CASE("counts of 0 are read and left out") {
  const std::string text =
      changed(kState, R"("workers":{"h1":2,"h2":1})", R"("workers":{"h1":0,"h2":3})");
  const auto state = policy::queue_state_from(parsed(text));
  REQUIRE(state.has_value());
  REQUIRE(state->running[0].placed.workers.size() == 1);
  CHECK(state->running[0].placed.workers[0].count == 3);
}

TEST_CASE("a decision of the queue is written as it is documented") {
  const std::string text =
      R"({"now":0,"starve_limit":9,"nodes":[{"id":"n","cap":{"cpu":8},"idle":{"cpu":4}},)"
      R"({"id":"m","cap":{"cpu":8},"idle":{"cpu":1}}],)"
      R"("waiting":[],"running":[{"id":"r","since":-2,"weight":0.5,"min":1,"max":3,"ps":0,)"
      R"("worker_request":{"cpu":1},"ps_request":{},"placed":{"ps":{},"workers":{"n":2}}},)"
      R"({"id":"d","since":0,"weight":0.5,"min":1,"max":1,"ps":0,"worker_request":{"mem":2},)"
      R"("ps_request":{},"placed":{"ps":{},"workers":{"m":1}},"done":true}],)"
      R"("new":[{"id":"a","min":1,"max":1,"ps":1,"worker_request":{"cpu":4},"ps_request":{"cpu":1}},)"
      R"({"id":"b","since":-10,"min":1,"max":1,"ps":0,"worker_request":{"cpu":8},"ps_request":{}}]})";
  CHECK(decided(text) ==
        R"({"branch":"top","actions":[{"op":"enqueue","job":"a","weight":0.8807970779778823},)"
        R"({"op":"enqueue","job":"b","weight":0.7310585786300049},)"
        R"({"op":"remove_worker","job":"r","node":"n"},)"
        R"({"op":"start","job":"a","why":"preempt","ps":{"n":1},"workers":{"n":1}},)"
        R"({"op":"starve","job":"b"},)"
        R"({"op":"add_worker","job":"r","node":"m"},{"op":"finish","job":"d"}],)"
        R"("waiting":[{"id":"b","weight":1}],)"
        R"("running":[{"id":"r","weight":0.5,"placed":{"ps":{},"workers":{"n":1,"m":1}}},)"
        R"({"id":"a","weight":0.8807970779778823,"placed":{"ps":{"n":1},"workers":{"n":1}}}],)"
        R"("finished":["d"],)"
        R"("nodes":[{"id":"n","idle":{"cpu":0}},{"id":"m","idle":{"cpu":0,"mem":2}}]})");
  CHECK(decided(R"({"now":0,"starve_limit":0,"nodes":[],"waiting":[],"running":[],"new":[]})") ==
        R"({"branch":null,"actions":[],"waiting":[],"running":[],"finished":[],"nodes":[]})");
}

TEST_CASE("what is wrong with a state of the queue is named with its place") {
  struct Row {
    const char* from;
    const char* to;
    const char* complaint;
  };
  const auto row = GENERATE(values<Row>({
      {R"("now":100,)", "", "now: is missing"},
      {R"("now":100)", R"("now":"x")", "now: must be a number, not \"x\""},
      {R"("starve_limit":50,)", "", "starve_limit: is missing"},
      {R"("starve_limit":50)", R"("starve_limit":-1)", "starve_limit: must be at least 0, not -1"},
      {R"("basis":"job")", R"("basis":"jobs")", "basis: must be worker or job, not \"jobs\""},
      {R"("basis":"job")", R"("basis":1)", "basis: must be a string, not 1"},
      {R"("prune":true)", R"("prune":1)", "prune: must be true or false, not 1"},
      {R"("repeat":true)", R"("repeat":"")", "repeat: must be true or false, not \"\""},
      {R"("check_after":false)", R"("check_after":0)", "check_after: must be true or false, not 0"},
      {R"("starve_everywhere":false)", R"("starve_everywhere":0)",
       "starve_everywhere: must be true or false, not 0"},
      {R"("nodes")", R"("x")", "nodes: is missing"},
      {R"("id":"h1",)", "", "nodes[0].id: is missing"},
      {R"("id":"h2")", R"("id":"h1")", "nodes[1].id: is there twice: \"h1\""},
      {R"("cap":{"cpu":4},)", "", "nodes[1].cap: is missing"},
      {R"("cap":{"cpu":4})", R"("cap":[])", "nodes[1].cap: must be an object, not an array"},
      {R"("cap":{"cpu":4})", R"("cap":{"cpu":-4})", "nodes[1].cap.cpu: must be at least 0, not -4"},
      {R"("cap":{"cpu":4})", R"("cap":{"\u001b[1m":null})",
       "nodes[1].cap.\xEF\xBF\xBD[1m: must be a number, not null"},
      {R"(,"idle":{"cpu":1.5})", "", "nodes[0].idle: is missing"},
      {R"("idle":{"cpu":1.5})", R"("idle":{"cpu":"1"})",
       "nodes[0].idle.cpu: must be a number, not \"1\""},
      {R"("waiting")", R"("x")", "waiting: is missing"},
      {R"("running")", R"("x")", "running: is missing"},
      {R"("new":[)", R"("x":[)", "new: is missing"},
      {R"("new":[)", R"("new":{},"x":[)", "new: must be an array, not an object"},
      {R"("id":"r")", R"("id":"w")", "running[0].id: is there twice: \"w\""},
      {R"("id":"n")", R"("id":"r")", "new[0].id: is there twice: \"r\""},
      {R"("since":40,)", "", "waiting[0].since: is missing"},
      {R"("since":10)", R"("since":null)", "running[0].since: must be a number, not null"},
      {R"("since":90)", R"("since":"x")", "new[0].since: must be a number, not \"x\""},
      {R"("weight":0.75,)", "", "waiting[0].weight: is missing"},
      {R"("weight":0.5,)", "", "running[0].weight: is missing"},
      {R"("min":1,"max":3)", R"("max":3)", "waiting[0].min: is missing"},
      {R"("min":1,"max":3)", R"("min":0,"max":3)", "waiting[0].min: must be at least 1, not 0"},
      {R"("min":1,"max":3)", R"("min":1.5,"max":3)",
       "waiting[0].min: must be a whole number from 0 to 2^53, not 1.5"},
      {R"("max":4,)", "", "running[0].max: is missing"},
      {R"("max":4)", R"("max":1)", "running[0].max: must be at least min, not 1"},
      {R"("ps":0,)", "", "new[0].ps: is missing"},
      {R"("ps":0)", R"("ps":-1)", "new[0].ps: must be a whole number from 0 to 2^53, not -1"},
      {R"("worker_request":{"cpu":2,"mem":0},)", "", "waiting[0].worker_request: is missing"},
      {R"("worker_request":{"cpu":2)", R"("worker_request":{"cpu":-2)",
       "waiting[0].worker_request.cpu: must be at least 0, not -2"},
      {R"(,"ps_request":{"cpu":0.5})", "", "waiting[0].ps_request: is missing"},
      {R"("ps_request":{"cpu":0.5})", R"("ps_request":{"cpu":[]})",
       "waiting[0].ps_request.cpu: must be a number, not an array"},
      {R"("placed":{"ps":{"h2":1},"workers":{"h1":2,"h2":1}},)", "",
       "running[0].placed: is missing"},
      {R"("placed":{"ps":{"h2":1},)", R"("placed":{)", "running[0].placed.ps: is missing"},
      {R"("workers":{"h1":2,)", R"("workers":{"h3":2,)",
       "running[0].placed.workers.h3: is the id of no node"},
      {R"("workers":{"h1":2,)", R"("workers":{"h1":-2,)",
       "running[0].placed.workers.h1: must be a whole number from 0 to 2^53, not -2"},
      {R"("workers":{"h1":2,)", R"("workers":{"h1":2e9,)",
       "running[0].placed.workers.h1: must be at most 10^9, not 2000000000"},
      {R"("done":true)", R"("done":1)", "running[0].done: must be true or false, not 1"},
  }));
  CAPTURE(row.to);
  CHECK(complaint(changed(kState, row.from, row.to)) == row.complaint);
}

TEST_CASE("a state of the queue with more than 64 resources is refused") {
  std::string kinds;
  for (int i = 0; i < 64; ++i) kinds += ",\"k" + std::to_string(i) + "\":0";
  CHECK(complaint(changed(kState, R"("cap":{"cpu":4)", R"("cap":{"cpu":4)" + kinds)) ==
        "nodes[1].cap.k62: is one of more than 64 resources in all");
}

TEST_CASE("each job of a decision has its sentence") {
  const std::string text =
      R"({"now":100,"starve_limit":50,"nodes":[{"id":"h1","cap":{"cpu":8},"idle":{"cpu":1}}],)"
      R"("waiting":[{"id":"a","since":90,"weight":0.9,"min":1,"max":1,"ps":1,)"
      R"("worker_request":{"cpu":2},"ps_request":{"cpu":1}},)"
      R"({"id":"b","since":40,"weight":0.75,"min":1,"max":1,"ps":0,"worker_request":{"cpu":3},)"
      R"("ps_request":{}}],)"
      R"("running":[{"id":"r","since":10,"weight":0.5,"min":1,"max":4,"ps":0,)"
      R"("worker_request":{"cpu":2},"ps_request":{},"placed":{"ps":{},"workers":{"h1":2}}},)"
      R"({"id":"d","since":10,"weight":0.5,"min":1,"max":1,"ps":0,"worker_request":{"cpu":3},)"
      R"("ps_request":{},"placed":{"ps":{},"workers":{"h1":1}},"done":true}],"new":[]})";
  CHECK(explained(text, "a") ==
        "starts on gpu1 (1 parameter server, 1 worker): 1 worker of other jobs made room; weight "
        "0.9");
  CHECK(explained(text, "b") ==
        "waits with weight 1: one job starts at a time, and a came first; it has waited so long "
        "that its weight becomes 1");
  CHECK(explained(text, "r") == "runs on gpu1 (1 worker); weight 0.5; gives 1 worker");
  CHECK(explained(text, "d") == "has ended: its room is idle again");
  CHECK(explained(text, "x") == "the job is not in this decision");
  const std::string full =
      changed(text, R"("weight":0.5,"min":1,"max":4)", R"("weight":0.95,"min":1,"max":2)");
  CHECK(explained(full, "b") ==
        "waits with weight 1: a running job has a greater one, and no hosts have room for its "
        "minimum (1 worker); it has waited so long that its weight becomes 1");
}
