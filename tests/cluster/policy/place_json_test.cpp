// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec/place_json.h"

#include <string>

#include "base/json.h"
#include "cluster/policy/explain_place.h"
#include "tests/support/catch.h"
#include "tests/support/json_text.h"

namespace {

using flowcon::render_json;
using flowcon::test::changed;
using flowcon::test::parsed;
namespace policy = flowcon::cluster::policy;

constexpr const char* kState =
    R"({"mode":"immediate","lambda":0.25,"remove_used":true,"seeded":true,"hub":true,"seed":3,)"
    R"("nodes":[{"id":"h1","rack":"r","domain":"d","cap":{"gpu":4,"cpu":8},"used":{"gpu":1}},)"
    R"({"id":"h2","rack":"r","domain":"d","cap":{"gpu":2,"cpu":8},"used":{}}],)"
    R"("tasks":[{"id":"a0","job":"a","role":"ps","req":{"cpu":1.5}},)"
    R"({"id":"a1","job":"a","role":"worker","req":{"gpu":2,"cpu":1}},)"
    R"({"id":"b0","job":"b","role":"worker","req":{"gpu":8}}]})";

constexpr const char* kLinked =
    R"({"mode":"immediate","lambda":0.5,)"
    R"("nodes":[{"id":"h1","rack":"r","cap":{"gpu":1},"used":{}},)"
    R"({"id":"h2","domain":"d","cap":{"gpu":1},"used":{}},{"id":"h3","cap":{},"used":{}}],)"
    R"("tasks":[{"id":"a0","job":"a","role":"ps","req":{}}],)"
    R"("links":[{"a":"h1","b":"h2","bytes_per_s":1000},{"a":"h3","b":"h1","bytes_per_s":0.5}],)"
    R"("traffic":{"a":20}})";

std::string complaint(const std::string& text) {
  const auto state = policy::place_state_from(parsed(text));
  return state ? "" : state.error().message();
}

policy::PlaceState state_of(const std::string& text) {
  auto state = policy::place_state_from(parsed(text));
  REQUIRE(state.has_value());
  return std::move(*state);
}

std::string explained(const std::string& text, const std::string& id) {
  const policy::PlaceState state = state_of(text);
  flowcon::ctrl::policy::About about;
  about.id = id;
  about.host_name = [](const std::string& host) { return host == "h1" ? "gpu1" : host; };
  const auto sentence = explain(state, *policy::decide_place(state), about);
  return sentence ? *sentence : sentence.error().message();
}

// Without the options, in the mode.
std::string plain(const std::string& mode) {
  return changed(
      kState, R"("immediate","lambda":0.25,"remove_used":true,"seeded":true,"hub":true,"seed":3)",
      '"' + mode + '"');
}

}  // namespace

TEST_CASE("a state of the placement that is written reads back as the same text") {
  CHECK(render_json(to_json(state_of(kState))) == kState);
}

TEST_CASE("a state with links reads back as the same text, and may do without racks and domains") {
  CHECK(render_json(to_json(state_of(kLinked))) == kLinked);
  const auto state = state_of(changed(kLinked, R"("rack":"r",)", R"("rack":null,"domain":null,)"));
  CHECK(state.nodes[0].rack.empty());
  CHECK(state.nodes[0].domain == state.nodes[2].domain);
  CHECK(state_of(changed(kLinked, R"({"a":20})", "null")).traffic.empty());
}

TEST_CASE("no links are as if there were none, and traffic counts with links alone") {
  const std::string text = render_json(to_json(state_of(kState)));
  for (const char* none : {R"("links":[],"traffic":{"x":-1},)", R"("links":null,"traffic":7,)"}) {
    const std::string with = changed(text, R"("nodes")", none + std::string(R"("nodes")"));
    CHECK(render_json(to_json(state_of(with))) == text);
    CHECK(complaint(changed(with, R"("rack":"r",)", "")) == "nodes[0].rack: is missing");
  }
}

TEST_CASE("what is wrong with links is named with its place") {
  struct Row {
    const char* from;
    const char* to;
    const char* complaint;
  };
  const auto row = GENERATE(values<Row>({
      {R"("links":[)", R"("links":{},"x":[)", "links: must be an array, not an object"},
      {R"("a":"h1",)", "", "links[0].a: is missing"},
      {R"("a":"h1",)", R"("a":"h9",)", R"(links[0].a: must be the id of a node, not "h9")"},
      {R"("b":"h2")", R"("b":7)", "links[0].b: must be a string, not 7"},
      {R"("b":"h2")", R"("b":"")", R"(links[0].b: must be the id of a node, not "")"},
      {R"("b":"h2")", R"("b":"h1")", R"(links[0].b: must be another node than a, not "h1")"},
      {R"("a":"h3")", R"("a":"h2")", R"(links[1]: is there twice: "h2" and "h1")"},
      {R"(,"bytes_per_s":1000)", "", "links[0].bytes_per_s: is missing"},
      {R"("bytes_per_s":1000)", R"("bytes_per_s":0)",
       "links[0].bytes_per_s: is out of its range, not 0"},
      {R"("bytes_per_s":1000)", R"("bytes_per_s":-5)",
       "links[0].bytes_per_s: is out of its range, not -5"},
      {R"("bytes_per_s":1000)", R"("bytes_per_s":1e16)",
       "links[0].bytes_per_s: is out of its range, not 1e+16"},
      {R"({"a":20})", R"({"b":20})", "traffic.b: is the job of no task"},
      {R"({"a":20})", R"({"a":-20})", "traffic.a: is out of its range, not -20"},
      {R"({"a":20})", R"({"a":"nan"})", R"(traffic.a: must be a number, not "nan")"},
      {R"({"a":20})", R"([])", "traffic: must be an object, not an array"},
      {R"("rack":"r")", R"("rack":1)", "nodes[0].rack: must be a string, not 1"},
  }));
  CAPTURE(row.to);
  CHECK(complaint(changed(kLinked, row.from, row.to)) == row.complaint);
}

TEST_CASE("links without end are refused") {
  std::string links;
  for (int i = 0; i < 99'999; ++i) links += "0,";
  CHECK(complaint(changed(kLinked, R"("links":[)", R"("links":[)" + links)) ==
        "links: are more than 100000");
}

TEST_CASE("options of the placement may be null or absent, unknown fields are ignored") {
  const std::string nulls =
      changed(kState, R"("lambda":0.25,"remove_used":true,"seeded":true,"hub":true,"seed":3)",
              R"("lambda":null,"remove_used":null,"seeded":null,"hub":null,"seed":null,"x":[])");
  for (const std::string& text : {plain("immediate"), nulls}) {
    const policy::PlaceState state = state_of(text);
    CHECK(state.lambda == 0.5);
    CHECK_FALSE(state.remove_used);
    CHECK_FALSE(state.seeded);
    CHECK(state.seed == 1);
  }
}

TEST_CASE("a placement is written as it is documented") {
  CHECK(render_json(to_json(*policy::decide_place(state_of(plain("immediate"))))) ==
        R"({"placement":{"a0":"h1","a1":"h1"},"unplaced":["b"],)"
        R"("trace":[["a0","h1",-0.125],["a1","h1",-0.375]]})");
  CHECK(render_json(to_json(*policy::decide_place(state_of(plain("batch"))))) ==
        R"({"placement":{"a0":"h2","a1":"h2"},"unplaced":["b"],"score":-0.5,"fitness":-0.5})");
}

TEST_CASE("what is wrong with a state of the placement is named with its place") {
  struct Row {
    const char* from;
    const char* to;
    const char* complaint;
  };
  const auto row = GENERATE(values<Row>({
      {R"("mode":"immediate",)", "", "mode: is missing"},
      {R"("immediate")", R"("both")", R"(mode: must be immediate or batch, not "both")"},
      {R"("lambda":0.25)", R"("lambda":1.5)", "lambda: is out of its range, not 1.5"},
      {R"("lambda":0.25)", R"("lambda":"x")", R"(lambda: must be a number, not "x")"},
      {R"("remove_used":true)", R"("remove_used":1)", "remove_used: must be true or false, not 1"},
      {R"("seeded":true)", R"("seeded":"no")", R"(seeded: must be true or false, not "no")"},
      {R"("seed":3)", R"("seed":-3)", "seed: must be a whole number from 0 to 2^53, not -3"},
      {R"("nodes")", R"("x")", "nodes: is missing"},
      {R"("tasks")", R"("x")", "tasks: is missing"},
      {R"("id":"h2",)", "", "nodes[1].id: is missing"},
      {R"("id":"h2")", R"("id":"h1")", R"(nodes[1].id: is there twice: "h1")"},
      {R"("rack":"r",)", "", "nodes[0].rack: is missing"},
      {R"("rack":"r")", R"("rack":7)", "nodes[0].rack: must be a string, not 7"},
      {R"("domain":"d",)", "", "nodes[0].domain: is missing"},
      {R"("cap":{"gpu":4,"cpu":8},)", "", "nodes[0].cap: is missing"},
      {R"("gpu":4)", R"("gpu":-4)", "nodes[0].cap.gpu: must be at least 0, not -4"},
      {R"(,"used":{"gpu":1})", "", "nodes[0].used: is missing"},
      {R"("used":{"gpu":1})", R"("used":{"gpu":null})",
       "nodes[0].used.gpu: must be a number, not null"},
      {R"("id":"a0",)", "", "tasks[0].id: is missing"},
      {R"("id":"a1")", R"("id":"a0")", R"(tasks[1].id: is there twice: "a0")"},
      {R"("job":"b",)", "", "tasks[2].job: is missing"},
      {R"("role":"ps",)", "", "tasks[0].role: is missing"},
      {R"("role":"ps")", R"("role":"chief")",
       R"(tasks[0].role: must be ps or worker, not "chief")"},
      {R"(,"req":{"cpu":1.5})", "", "tasks[0].req: is missing"},
      {R"("cpu":1.5)", R"("cpu":[])", "tasks[0].req.cpu: must be a number, not an array"},
      {R"("cpu":1.5)", R"("cpu":-1)", "tasks[0].req.cpu: must be at least 0, not -1"},
  }));
  CAPTURE(row.to);
  CHECK(complaint(changed(kState, row.from, row.to)) == row.complaint);
}

TEST_CASE("a state of the placement without end is refused") {
  std::string nodes;
  for (int i = 0; i <= 10000; ++i) {
    nodes += R"({"rack":"r","domain":"d","cap":{},"used":{},"id":")" + std::to_string(i) + R"("},)";
  }
  CHECK(complaint(changed(kState, R"("nodes":[)", R"("nodes":[)" + nodes)) ==
        "nodes: are more than 10000");
}

TEST_CASE("each task and each job of a placement has its sentence") {
  const std::string text = plain("immediate");
  CHECK(explained(text, "a1") ==
        "goes to gpu1: its job's score with it there is -0.375, the least of the hosts with room");
  CHECK(explained(text, "a") == "goes to gpu1 (1 parameter server, 1 worker): score -0.375");
  CHECK(explained(text, "b0") ==
        "is not placed: the hosts of no domain have room for all tasks of its job");
  CHECK(explained(changed(text, R"("immediate")", R"("immediate","seeded":true)"), "a0") ==
        "goes to h2: its job's score with it there is 0, on the way to the least one found");
  CHECK(explained(plain("batch"), "a0") ==
        "goes to h2: the best plan found for the whole batch has it there (fitness -0.5)");
  CHECK(explained(plain("batch"), "b") ==
        "is not placed: no plan was found that has room for it and all jobs before it");
  CHECK(explained(text, "x") == "the job is not in this decision");
}
