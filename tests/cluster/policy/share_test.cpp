// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/share.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/codec/queue_json.h"
#include "tests/cluster/policy/queue_states.h"
#include "tests/support/catch.h"
#include "tests/support/json_text.h"

namespace {

using flowcon::render_json;
using flowcon::test::changed;
using flowcon::test::drawn;
using flowcon::test::parsed;
namespace policy = flowcon::cluster::policy;

policy::DeviceTask part(const std::string& id, double util, double mem) {
  return {id, std::nullopt, util, mem};
}
policy::DeviceTask whole(const std::string& id, std::int64_t gpus) { return {id, gpus, 0, 0}; }

std::string share(std::vector<policy::SharedDevice> devices,
                  std::vector<policy::DeviceTask> tasks) {
  const policy::ShareState state{std::move(devices), std::move(tasks)};
  return render_json(to_json(decide_share(state)));
}

constexpr const char* kState = R"({"devices":[{"id":"g0","mem":16,"util_used":30,"mem_used":4},)"
                               R"({"id":"g1","mem":16,"util_used":0,"mem_used":0}],)"
                               R"("tasks":[{"id":"a","gpus":1},{"id":"b","util":50.5,"mem":6}]})";

std::string complaint(const std::string& text) {
  const auto state = policy::share_state_from(parsed(text));
  return state ? "" : state.error().message();
}

}  // namespace

TEST_CASE("whole devices are the first that nobody uses") {
  CHECK(share({{"a", 8, 1, 0}, {"b", 8, 0, 1}, {"c", 8, 0, 0}, {"d", 8, 0, 0}}, {whole("t", 1)}) ==
        R"({"placed":{"t":["c"]},"unplaced":[]})");
  CHECK(share({{"a", 8, 0, 0}, {"b", 8, 0, 0}}, {whole("t", 3), whole("u", 2), whole("v", 1)}) ==
        R"({"placed":{"u":["a","b"]},"unplaced":["t","v"]})");
  CHECK(share({}, {whole("t", 0)}) == R"({"placed":{"t":[]},"unplaced":[]})");
}

TEST_CASE("a part is taken of the most used device that has room") {
  CHECK(share({{"a", 8, 10, 4}, {"b", 8, 60, 4}, {"c", 8, 70, 0}}, {part("t", 40, 4)}) ==
        R"({"placed":{"t":["b"]},"unplaced":[]})");
  CHECK(share({{"a", 8, 50, 1}, {"b", 8, 50, 2}, {"c", 8, 50, 2}}, {part("t", 1, 1)}) ==
        R"({"placed":{"t":["b"]},"unplaced":[]})");
  CHECK(share({{"a", 8, 50, 5}}, {part("t", 1, 4), part("u", 51, 1)}) ==
        R"({"placed":{},"unplaced":["t","u"]})");
  CHECK(share({{"a", 8, 50, 5}}, {part("t", 50 + 5e-10, 3 + 5e-10)}) ==
        R"({"placed":{"t":["a"]},"unplaced":[]})");
}

TEST_CASE("what a call gives counts for the tasks that follow") {
  // A part makes a device used, even a part of nothing; a whole device is nobody else's.
  CHECK(
      share({{"a", 8, 0, 0}, {"b", 8, 0, 0}}, {part("t", 0, 0), whole("u", 1), part("v", 1, 1)}) ==
      R"({"placed":{"t":["a"],"u":["b"],"v":["a"]},"unplaced":[]})");
  CHECK(share({{"a", 8, 0, 0}}, {part("t", 60, 5), part("u", 40, 4), part("v", 40, 3)}) ==
        R"({"placed":{"t":["a"],"v":["a"]},"unplaced":["u"]})");
}

TEST_CASE("no device is given twice as a whole, nor beyond what it has") {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    policy::ShareState state;
    for (std::size_t i = random() % 5; i > 0; --i) {
      state.devices.push_back(
          {"g" + std::to_string(i), 8, 20 * drawn(random, 3), 3 * drawn(random, 2)});
    }
    for (std::size_t i = random() % 8; i > 0; --i) {
      const std::string id = "t" + std::to_string(i);
      state.tasks.push_back(random() % 3 == 0 ? whole(id, static_cast<std::int64_t>(random() % 3))
                                              : part(id, 10 * drawn(random, 7), drawn(random, 5)));
    }
    const policy::ShareDecision decision = decide_share(state);
    CHECK(decision.placed.size() + decision.unplaced.size() == state.tasks.size());
    std::map<std::string, policy::SharedDevice> devices;
    for (const auto& device : state.devices) devices[device.id] = device;
    std::set<std::string> given;
    for (const auto& [id, got] : decision.placed) {
      const auto task = *std::find_if(state.tasks.begin(), state.tasks.end(),
                                      [&id = id](const auto& each) { return each.id == id; });
      CHECK(got.size() == static_cast<std::size_t>(task.gpus.value_or(1)));
      for (const std::string& device : got) {
        if (task.gpus) CHECK(given.insert(device).second);
        devices[device].util_used += task.util;
        devices[device].mem_used += task.mem;
      }
    }
    for (const auto& [id, device] : devices) {
      if (given.count(id) != 0) CHECK(device.util_used == 0);
      CHECK(device.util_used <= 100);
      CHECK(device.mem_used <= 8);
    }
  }
}

TEST_CASE("a state of devices that is written reads back as the same text") {
  CHECK(render_json(to_json(*policy::share_state_from(parsed(kState)))) == kState);
  CHECK(complaint(changed(kState, R"("gpus":1)", R"("gpus":1,"util":"x","y":{})")).empty());
  const std::string as_part = changed(kState, R"("gpus":1)", R"("gpus":null,"util":1,"mem":2)");
  CHECK_FALSE(policy::share_state_from(parsed(as_part))->tasks[0].gpus);
}

TEST_CASE("what is wrong with a state of devices is named with its place") {
  struct Row {
    const char* from;
    const char* to;
    const char* complaint;
  };
  const auto row = GENERATE(values<Row>({
      {R"("devices")", R"("x")", "devices: is missing"},
      {R"("tasks")", R"("x")", "tasks: is missing"},
      {R"("id":"g0",)", "", "devices[0].id: is missing"},
      {R"("id":"g1")", R"("id":"g0")", R"(devices[1].id: is there twice: "g0")"},
      {R"("id":"b")", R"("id":"a")", R"(tasks[1].id: is there twice: "a")"},
      {R"("mem":16,)", "", "devices[0].mem: is missing"},
      {R"("mem":16)", R"("mem":null)", "devices[0].mem: must be a number, not null"},
      {R"("mem":16)", R"("mem":-1)", "devices[0].mem: must be at least 0, not -1"},
      {R"("util_used":30,)", "", "devices[0].util_used: is missing"},
      {R"("util_used":30)", R"("util_used":-1)",
       "devices[0].util_used: must be at least 0, not -1"},
      {R"(,"mem_used":4)", "", "devices[0].mem_used: is missing"},
      {R"("mem_used":4)", R"("mem_used":"4")", R"(devices[0].mem_used: must be a number, not "4")"},
      {R"("gpus":1)", R"("gpus":1.5)",
       "tasks[0].gpus: must be a whole number from 0 to 2^53, not 1.5"},
      {R"(,"gpus":1)", "", "tasks[0].util: is missing"},
      {R"(,"mem":6)", "", "tasks[1].mem: is missing"},
      {R"("mem":6)", R"("mem":-6)", "tasks[1].mem: must be at least 0, not -6"},
      {R"("util":50.5)", R"("util":true)", "tasks[1].util: must be a number, not true"},
  }));
  CAPTURE(row.to);
  CHECK(complaint(changed(kState, row.from, row.to)) == row.complaint);
}
