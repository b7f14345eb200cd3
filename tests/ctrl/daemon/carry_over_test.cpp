// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/carry_over.h"

#include <filesystem>
#include <fstream>

#include "ctrl/began_elsewhere.h"
#include "tests/ctrl/daemon/parts.h"
#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::ctrl;
using test::FakeContainers;
using test::Ground;

namespace {

const std::string kId = std::string(63, '0') + "a";
const std::string kOther = std::string(63, '0') + "b";

// One host of a move.
struct Side : Ground {
  explicit Side(const std::string& name = "h1") : Ground(name) {}

  Roster roster;
  Config config;
  Recorder recorder{io, effects, records_of(*world.store), config, world.clock, [] {}};
  Controls controls{io, effects, *world.store};
  LogFollower logs{io, roster, world.clock, [](const std::string&) { return std::string(); }};
  CarryOver carry_over{world, effects, roster, recorder, controls, logs, folder.path()};

  // The same after a restart.
  CarryOver again() {
    CarryOver next{world, effects, roster, recorder, controls, logs, folder.path()};
    REQUIRE(get(next.read()).has_value());
    return next;
  }
  // What is queued is done.
  void flush() {
    auto nothing = [] { return true; };
    CHECK(get(effects.run(nothing)));
  }
  void record_values() {
    store::Look look;
    look.run.id = kId;
    look.run.name = "vae";
    look.run.metric = "loss";
    look.run.started = now - 100;
    look.samples = {{now - 90, 3}, {now - 10, 1}};
    recorder.add(std::move(look));
    recorder.write();
    until([this] { return recorder.is_idle(); });
  }
  std::string exported() {
    const Result<std::string> text = get(carry_over.export_history(kId, host));
    REQUIRE(text.has_value());
    return *text;
  }
  void put_log(const std::string& id, const std::string& text) {
    std::filesystem::create_directories(folder.path() + "/lives");
    std::ofstream(carried_log_path(folder.path(), id)) << text;
  }
};

Job job_begun(double started) {
  Job job;
  job.container.id = kId;
  job.container.started = started;
  return job;
}

Job saved_job() {
  Job job = job_begun(500);
  job.track = growth::Track({42, 0, 0, {}, {}}, 1000);
  job.track_series.metric = "loss";
  job.saw_all = true;
  return job;
}

bool is_not_moving(const std::string&) { return false; }

}  // namespace

TEST_CASE("what a job used elsewhere is taken up by its next start, and by no other") {
  Side side;
  side.carry_over.keep(saved_job(), is_not_moving);
  Job next = job_begun(1000);
  side.carry_over.take_up(next);
  REQUIRE(next.past.has_value());
  CHECK(next.past->track.used == 42);
  CHECK(next.saw_all);
  Job same = job_begun(1000);
  side.carry_over.take_up(same);
  CHECK(same.past.has_value());
  Job later = job_begun(2000);
  side.carry_over.take_up(later);
  CHECK_FALSE(later.past.has_value());
  CHECK(later.saw_all);
  side.flush();
  CHECK(side.world.store->pasts()->empty());
}

TEST_CASE("a restart of flowcond between the two starts forgets nothing") {
  Side side;
  side.carry_over.keep(saved_job(), is_not_moving);
  side.flush();
  CarryOver again = side.again();
  Job next = job_begun(1000);
  again.take_up(next);
  REQUIRE(next.past.has_value());
  CHECK(next.past->metric == "loss");
  side.flush();
}

TEST_CASE("a copy that another host sent, or a container that ran before, was not seen whole") {
  Side side;
  Job moved = job_begun(1000);
  moved.container.labels[kMovedLabel] = "x";
  side.carry_over.take_up(moved);
  CHECK_FALSE(moved.saw_all);
  moved.container.labels[kFirstRunLabel] = "true";
  side.carry_over.take_up(moved);
  CHECK(moved.saw_all);
  Job restarted = job_begun(1000);
  restarted.container.has_ended_before = true;
  side.carry_over.take_up(restarted);
  CHECK_FALSE(restarted.saw_all);
}

TEST_CASE("history, overrides and carry-over of a container go to another host") {
  Side from("h1"), to("h2");
  from.record_values();
  Control control;
  control.pin = Pin{0.5, from.now + 60};
  REQUIRE(from.get(from.controls.save(kId, control)).has_value());
  from.carry_over.keep(saved_job(), is_not_moving);
  to.now += 1000;  // its clock is another
  REQUIRE(to.get(to.carry_over.import_history(kOther, from.exported(), "")).has_value());

  const Result<store::History> history = to.world.store->history(kOther);
  REQUIRE(history.has_value());
  REQUIRE(history->samples.size() == 2);
  CHECK(history->samples.back().time == to.now - 10);
  REQUIRE(history->stays.size() == 1);
  CHECK(history->stays[0].host == "h1");
  CHECK(to.controls.of(kOther).pin == Pin{0.5, to.now + 60});
  Job copy = job_begun(7000);
  copy.container.id = kOther;
  to.carry_over.take_up(copy);
  REQUIRE(copy.past.has_value());
  CHECK(copy.past->track.used == 42);
}

TEST_CASE("a job that runs here is not whole, and its carry-over stays") {
  Side side;
  side.carry_over.keep(saved_job(), is_not_moving);
  Job next = job_begun(1000);
  side.carry_over.take_up(next);
  CHECK(parse_bundle(side.exported(), side.now)->past == std::nullopt);
}

TEST_CASE("what was imported is forgotten where the migration is undone") {
  Side from("h1"), to("h2");
  from.record_values();
  from.carry_over.keep(saved_job(), is_not_moving);
  const std::string text = from.exported();
  REQUIRE(to.get(to.carry_over.import_history(kOther, text, "")).has_value());
  REQUIRE(to.get(to.carry_over.forget_history(kOther)).has_value());
  CHECK_FALSE(to.world.store->history(kOther).has_value());
  CHECK(to.world.store->pasts()->empty());
  Job copy = job_begun(7000);
  copy.container.id = kOther;
  to.carry_over.take_up(copy);
  CHECK_FALSE(copy.past.has_value());
}

TEST_CASE("an import names what is wrong with it") {
  Side side;
  CHECK_FALSE(side.get(side.carry_over.import_history("../x", "{}", "")).has_value());
  const Result<void> wrong = side.get(side.carry_over.import_history(kId, "{}", ""));
  REQUIRE_FALSE(wrong.has_value());
  CHECK(wrong.error().what.find("history bundle") != std::string::npos);
}

TEST_CASE("the earlier log of a container is given out in whole lines") {
  Side side;
  FakeContainers containers;
  containers.running[kId].id = kId;
  containers.running[kId].name = "vae";
  side.put_log(kId, "one\ntwo\nthr");
  api::Call call;
  call.name = "vae";
  api::Response page = side.get(side.carry_over.log_of(&containers, call));
  REQUIRE(page.status == 200);
  CHECK(parse_json(page.body)->at("lines").as_string() == "one\ntwo\n");
  CHECK(parse_json(page.body)->at("next").to_number<int>() == 8);
  call.query["from"] = 8;
  page = side.get(side.carry_over.log_of(&containers, call));
  CHECK(parse_json(page.body)->at("next").is_null());
  call.name = "nobody";
  CHECK(side.get(side.carry_over.log_of(&containers, call)).status == 404);
}

TEST_CASE("earlier logs go with their containers") {
  Side side;
  FakeContainers containers;
  containers.running[kId].id = kId;
  containers.running[kId].name = kId;
  side.put_log(kId, "x\n");
  side.put_log(kOther, "x\n");
  side.run(side.carry_over.forget_logs(&containers));
  CHECK(std::filesystem::exists(carried_log_path(side.folder.path(), kOther)));
  side.now += 86400;
  side.run(side.carry_over.forget_logs(&containers));
  CHECK(std::filesystem::exists(carried_log_path(side.folder.path(), kId)));
  CHECK_FALSE(std::filesystem::exists(carried_log_path(side.folder.path(), kOther)));
}
