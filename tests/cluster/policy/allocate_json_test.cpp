// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec/allocate_json.h"

#include <string>

#include "base/json.h"
#include "tests/support/catch.h"
#include "tests/support/json_text.h"

namespace {

using flowcon::render_json;
using flowcon::test::changed;
using flowcon::test::parsed;
using namespace flowcon::cluster::policy;

constexpr const char* kGreedy =
    R"({"allocator":"greedy","nodes":6,"powers_of_two":false,"cascade":false,"repeat":true,"jobs":[)"
    R"({"id":"a","nodes":4,"train_time":2.5,"n_min":1,"n_max":8},)"
    R"({"id":"q","nodes":0,"train_time":0,"n_min":2,"n_max":3}]})";

constexpr const char* kHorizon =
    R"({"allocator":"milp","nodes":6,"steps":2,"minutes":60,"allow_zero":true,"pause":15,"jobs":[)"
    R"({"id":"a","left":2.5,"n_min":1,"n_max":2,"now":1,"speed":{"1":1,"2":1.5}},)"
    R"({"id":"b","left":8,"n_min":2,"n_max":8}]})";

std::string complaint(const std::string& text) {
  const auto state = allocate_state_from(parsed(text));
  return state ? "" : state.error().message();
}

std::string decided(const std::string& text) {
  const auto state = allocate_state_from(parsed(text));
  REQUIRE(state.has_value());
  return render_json(to_json(decide_allocate(*state)));
}

}  // namespace

TEST_CASE("an allocator's state is written as it was read") {
  const std::string text = GENERATE(as<std::string>{}, kGreedy, kHorizon);
  const auto state = allocate_state_from(parsed(text));
  REQUIRE(state.has_value());
  CHECK(render_json(to_json(*state)) == text);
}

TEST_CASE("an allocator's decision is written as the text has it") {
  CHECK(decided(kGreedy) ==
        R"({"scenario":1,"allocation":{"a":4,"q":2},"idle":0,"log":[["start","q",2]]})");
  const std::string horizon =
      R"({"allocator":"milp","nodes":2,"steps":2,"minutes":60,"jobs":[)"
      R"({"id":"a","left":4,"n_min":1,"n_max":1},{"id":"b","left":4,"n_min":2,"n_max":2}]})";
  CHECK(decided(horizon) ==
        R"({"objective":0.75,"bound":0.75,"plan":{"a":[1,1]},"first":{"a":1},"waiting":["b"]})");
  CHECK(decided(R"({"allocator":"milp","nodes":0,"steps":1,"minutes":5,"jobs":[]})") ==
        R"({"objective":0,"bound":0,"plan":{},"first":{},"waiting":[]})");
}

TEST_CASE("an option that is null counts as absent") {
  std::string text = kGreedy;
  for (const char* option :
       {R"("powers_of_two":false)", R"("cascade":false)", R"("repeat":true)"}) {
    const std::string name = std::string(option).substr(0, std::string(option).find(':') + 1);
    text = changed(text, option, name + "null");
  }
  CHECK(decided(text) == decided(R"({"allocator":"greedy","nodes":6,"jobs":[)"
                                 R"({"id":"a","nodes":4,"train_time":2.5,"n_min":1,"n_max":8},)"
                                 R"({"id":"q","nodes":0,"train_time":0,"n_min":2,"n_max":3}]})"));
  std::string other = changed(kHorizon, R"("pause":15)", R"("pause":null)");
  other = changed(other, R"("now":1)", R"("now":null)");
  other = changed(other, R"("speed":{"1":1,"2":1.5})", R"("speed":null)");
  CHECK(complaint(changed(other, R"("allow_zero":true)", R"("allow_zero":null)")).empty());
}

TEST_CASE("a wrong state of greedy is refused with the field's name") {
  const auto with = [](const char* from, const char* to) {
    return complaint(changed(kGreedy, from, to));
  };
  CHECK(with(R"("allocator":"greedy",)", "") == "allocator: is missing");
  CHECK(with(R"("greedy")", R"("best")") == "allocator: must be greedy or milp, not \"best\"");
  CHECK(with(R"("greedy")", "1") == "allocator: must be a string, not 1");
  CHECK(with(R"("nodes":6,)", "") == "nodes: is missing");
  CHECK(with(R"("nodes":6)", R"("nodes":3)") ==
        "nodes: must be at least those that the jobs have, not 3");
  CHECK(with(R"("nodes":6)", R"("nodes":-1)") ==
        "nodes: must be a whole number from 0 to 2^53, not -1");
  CHECK(with(R"("powers_of_two":false)", R"("powers_of_two":1)") ==
        "powers_of_two: must be true or false, not 1");
  CHECK(with(R"("cascade":false)", R"("cascade":"no")") ==
        "cascade: must be true or false, not \"no\"");
  CHECK(with(R"("repeat":true)", R"("repeat":0)") == "repeat: must be true or false, not 0");
  CHECK(with(R"("jobs":[)", R"("tasks":[)") == "jobs: is missing");
  CHECK(with(R"("id":"a")", R"("id":1)") == "jobs[0].id: must be a string, not 1");
  CHECK(with(R"("id":"q")", R"("id":"a")") == "jobs[1].id: is there twice: \"a\"");
  CHECK(with(R"("nodes":4)", R"("nodes":0.5)") ==
        "jobs[0].nodes: must be a whole number from 0 to 2^53, not 0.5");
  CHECK(with(R"("nodes":4)", R"("nodes":9007199254740992)") ==
        "nodes: must be at least those that the jobs have, not 6");
  CHECK(with(R"("train_time":2.5)", R"("train_time":null)") ==
        "jobs[0].train_time: must be a number, not null");
  CHECK(with(R"("n_min":2,)", "") == "jobs[1].n_min: is missing");
  CHECK(with(R"("n_max":3)", R"("n_max":"3")") == "jobs[1].n_max: must be a number, not \"3\"");
  CHECK(complaint("[]") == "the state: must be an object, not an array");
}

TEST_CASE("a wrong state of the horizon is refused with the field's name") {
  const auto with = [](const char* from, const char* to) {
    return complaint(changed(kHorizon, from, to));
  };
  CHECK(with(R"("nodes":6)", R"("nodes":100001)") == "nodes: must be at most 100000, not 100001");
  CHECK(with(R"("steps":2,)", "") == "steps: is missing");
  CHECK(with(R"("steps":2)", R"("steps":0)") == "steps: must be 1 to 100, not 0");
  CHECK(with(R"("steps":2)", R"("steps":101)") == "steps: must be 1 to 100, not 101");
  CHECK(with(R"("minutes":60)", R"("minutes":0)") ==
        "minutes: must be above 0 and at most 1000000, not 0");
  CHECK(with(R"("minutes":60)", R"("minutes":1e7)") ==
        "minutes: must be above 0 and at most 1000000, not 10000000");
  CHECK(with(R"("allow_zero":true)", R"("allow_zero":1)") ==
        "allow_zero: must be true or false, not 1");
  CHECK(with(R"("pause":15)", R"("pause":-1)") == "pause: must be at least 0, not -1");
  CHECK(with(R"("left":8)", R"("left":0)") == "jobs[1].left: must be above 0, not 0");
  CHECK(with(R"("left":8,)", "") == "jobs[1].left: is missing");
  CHECK(with(R"("n_min":2,)", "") == "jobs[1].n_min: is missing");
  CHECK(with(R"("n_max":8)", R"("n_max":1.5)") ==
        "jobs[1].n_max: must be a whole number from 0 to 2^53, not 1.5");
  CHECK(with(R"("now":1)", R"("now":-1)") ==
        "jobs[0].now: must be a whole number from 0 to 2^53, not -1");
  CHECK(with(R"("id":"b")", R"("id":"a")") == "jobs[1].id: is there twice: \"a\"");
  CHECK(with(R"("speed":{"1":1,"2":1.5})", R"("speed":{"1":1})") == "jobs[0].speed.2: is missing");
  CHECK(with(R"("speed":{"1":1,"2":1.5})", R"("speed":{"1":1,"2":-1})") ==
        "jobs[0].speed.2: must be at least 0, not -1");
  CHECK(with(R"("speed":{"1":1,"2":1.5})", R"("speed":[1,2])") ==
        "jobs[0].speed: must be an object, not an array");
  CHECK(with(R"("speed":{"1":1,"2":1.5})", R"("speed":{"1":1,"2":1.5,"4":"x"})").empty());
  CHECK(with(R"("allow_zero":true)", R"("allow_zero":false)").empty());
  const std::string strict = changed(kHorizon, R"("allow_zero":true)", R"("allow_zero":false)");
  CHECK(complaint(changed(strict, R"("n_min":2,"n_max":8)", R"("n_min":5,"n_max":7)")) ==
        "jobs[1].n_max: leaves no power of two from n_min to n_max and nodes (5 to 7, 6)");
  CHECK(complaint(changed(strict, R"("n_min":2,"n_max":8)", R"("n_min":8,"n_max":8)")) ==
        "jobs[1].n_max: leaves no power of two from n_min to n_max and nodes (8 to 8, 6)");
}

TEST_CASE("nobody makes it read more jobs than it can decide on") {
  std::string text = R"({"allocator":"greedy","nodes":0,"jobs":[)";
  for (int i = 0; i <= 10000; ++i) text += i == 0 ? "0" : ",0";
  CHECK(complaint(text + "]}") == "jobs: must be at most 10000");
}
