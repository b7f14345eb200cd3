// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/facts.h"

#include "tests/cluster/migration/run/migrator_fakes.h"

using namespace flowcon;
using namespace flowcon::cluster;
using namespace flowcon::cluster::test;

namespace {

// Why a move that began at 0 is given up, `now` seconds later.
std::string late(Side side, Step step, double now, const std::function<void(Move&)>& change = {}) {
  OneHost host;
  const MovePtr move = host.add(side, step);
  move->began = 0;
  move->saving.saved_life = "1";
  if (change) change(*move);
  return why_too_late(*move, now, "1");
}

}  // namespace

TEST_CASE("a source waits a minute for an answer while its job runs, a quarter while it stands") {
  CHECK(late(Side::source, Step::reserve, 60).empty());
  CHECK_FALSE(late(Side::source, Step::reserve, 61).empty());
  CHECK(late(Side::source, Step::transfer, 15).empty());
  CHECK_FALSE(late(Side::source, Step::transfer, 16).empty());
  CHECK(late(Side::source, Step::transfer, 16, [](Move& move) { move.peer.heard = 10; }).empty());
  // After the hand-over no time has it given up.
  CHECK(late(Side::source, Step::start, 1e6).empty());
  CHECK(late(Side::source, Step::save, 1e6).empty());
}

TEST_CASE("a target that has all of it has two minutes to be ready") {
  const auto sent = [](Move& move) {
    move.travel.sent_at = 100;
    move.peer.heard = 220;
  };
  CHECK(late(Side::source, Step::transfer, 220, sent).empty());
  CHECK(late(Side::source, Step::transfer, 221, sent).starts_with("the target has all of it"));
}

TEST_CASE("a job that was started anew takes its state along no more") {
  const auto another = [](Move& move) { move.saving.saved_life = "2"; };
  CHECK(late(Side::source, Step::transfer, 1, another) == "it was started again meanwhile");
  CHECK(late(Side::source, Step::start, 1, another).empty());
}

TEST_CASE("a reservation ends by itself after ten minutes without a word") {
  CHECK(late(Side::target, Step::transfer, 600).empty());
  CHECK_FALSE(late(Side::target, Step::ready, 601).empty());
  CHECK(late(Side::target, Step::start, 1e6).empty());
}

TEST_CASE("a job has ended by itself where nobody asked it, and no policy starts it") {
  OneHost host;
  const MovePtr move = host.add(Side::source, Step::save);
  Seen seen;
  seen.copy = Copy::finished;
  CHECK(ended_by_itself(*move, seen));
  move->saving.was_asked = true;
  CHECK_FALSE(ended_by_itself(*move, seen));
  move->saving.has_ended = true;
  CHECK(ended_by_itself(*move, seen));
  move->plan.restart_policy = {{"Name", "always"}};
  CHECK_FALSE(ended_by_itself(*move, seen));
  move->plan.restart_policy = {};
  seen.copy = Copy::stopped;
  CHECK_FALSE(ended_by_itself(*move, seen));
}

TEST_CASE(
    "a copy on the target that ended by itself stays so; one that a person stopped does too") {
  OneHost host;
  Watch watch(host.world, host.open, host.records);
  FactFinder facts(host.world, watch);
  const MovePtr move = host.add(Side::target, Step::confirm);
  Box box;
  box.id = move->entry.container;
  box.lives = 1;
  box.copy = Copy::running;
  host.host.engine.boxes_[box.id] = box;
  watch.begin();
  host.pass(0);
  CHECK(host.await(facts.gather(move)).copy == Copy::running);
  host.host.engine.end(box.id, Copy::stopped, 143);
  const Facts ended = host.await(facts.gather(move));
  CHECK(ended.copy == Copy::finished);
  CHECK_FALSE(ended.is_stopped_by_person);
  // Its next life, which a person ends.
  host.host.engine.boxes_[box.id].copy = Copy::running;
  host.host.engine.boxes_[box.id].lives = 2;
  host.host.engine.tell("start", box.id);
  host.host.engine.tell("kill", box.id);
  host.host.engine.end(box.id, Copy::stopped, 143);
  const Facts stopped = host.await(facts.gather(move));
  CHECK(stopped.copy == Copy::stopped);
  CHECK(stopped.is_stopped_by_person);
}

TEST_CASE("a label signal does not hide that a person ended the copy") {
  for (const bool has_label : {false, true}) {
    OneHost host;
    Watch watch(host.world, host.open, host.records);
    const MovePtr move = host.add(Side::target, Step::confirm);
    if (has_label) move->plan.body["Labels"] = boost::json::object{{"signal", "1"}};
    watch.begin();
    host.pass(0);
    ctrl::engine::EngineEvent event;
    event.action = "kill";
    event.id = move->entry.container;
    event.signal = 1;
    host.host.engine.tell(event);
    CHECK(move->copy.was_killed == has_label);
  }
}

TEST_CASE("an engine that does not answer is no fact about the copy") {
  OneHost host;
  Watch watch(host.world, host.open, host.records);
  FactFinder facts(host.world, watch);
  const MovePtr move = host.add(Side::source, Step::transfer);
  host.host.engine.is_dead_ = true;
  CHECK(host.await(facts.gather(move)).copy == Copy::unknown);
  CHECK(move->trouble == "the engine does not answer");
  host.host.engine.is_dead_ = false;
  CHECK(host.await(facts.gather(move)).copy == Copy::absent);
}
