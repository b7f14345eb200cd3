// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/records.h"

#include "tests/cluster/migration/run/mover_fakes.h"

using namespace flowcon;
using namespace flowcon::cluster;
using namespace flowcon::cluster::test;

namespace {

Effect to(Step step, bool may_run_unwritten = false) {
  Effect effect;
  effect.step = step;
  effect.has_saved = true;
  effect.may_run_unwritten = may_run_unwritten;
  return effect;
}

}  // namespace

TEST_CASE("what is told is what the journal holds") {
  OneHost host;
  const MovePtr move = host.add(Side::source, Step::save);
  CHECK(host.await(host.records.write_down(move, to(Step::transfer))));
  CHECK(move->entry.step == Step::transfer);
  CHECK(move->written.step == Step::transfer);
  CHECK(host.host.rows.step() == "transfer");
  host.host.rows.refused_ = {Step::start};
  CHECK_FALSE(host.await(host.records.write_down(move, to(Step::start))));
  CHECK(move->entry.step == Step::transfer);
  CHECK(move->written.step == Step::transfer);
  CHECK(move->writing.is_start_doubtful);
  CHECK(move->give_up.empty());
  host.host.rows.refused_.clear();
  CHECK(host.await(host.records.write_down(move, to(Step::start))));
  CHECK_FALSE(move->writing.is_start_doubtful);
  CHECK(move->trouble.empty());
}

TEST_CASE("before the hand-over a move whose step cannot be written is given up") {
  OneHost host;
  const MovePtr move = host.add(Side::source, Step::reserve);
  host.host.rows.refused_ = {Step::save};
  CHECK_FALSE(host.await(host.records.write_down(move, to(Step::save))));
  CHECK(move->give_up == "writing the journal");
}

TEST_CASE("the way back may go on unwritten, and is written when it can be") {
  OneHost host;
  const MovePtr move = host.add(Side::source, Step::transfer);
  host.host.rows.refused_ = {Step::undo};
  CHECK(host.await(host.records.write_down(move, to(Step::undo, true))));
  CHECK(move->entry.step == Step::undo);
  CHECK(move->written.step == Step::transfer);
  CHECK(move->writing.is_unwritten);
  host.host.rows.refused_.clear();
  CHECK(host.await(host.records.write_down(move, to(Step::undo))));
  CHECK(move->written.step == Step::undo);
  CHECK_FALSE(move->writing.is_unwritten);
}

TEST_CASE("a journal is taken up once, and a row that makes no sense is left alone") {
  OneHost host;
  const std::function<void(MovePtr)> launch = [&](const MovePtr& move) { host.open.add(move); };
  host.records.begin();
  CHECK(host.records.is_reading());
  CHECK_FALSE(host.records.why_unread().empty());
  host.host.rows.rows_["x"] = {"x", "{}", "{}", 0, std::nullopt};
  CHECK(host.await(host.records.read(launch)));
  CHECK(host.records.why_unread().empty());
  CHECK_FALSE(host.records.is_whole());
  CHECK(host.host.host.warnings_.size() == 1);
  CHECK(host.open.all().empty());
}

TEST_CASE(
    "of a plan no more is kept than somebody asks for: none that was undone, no environment") {
  OneHost host;
  const auto kept = [&](Method method, Step step) {
    const MovePtr move = host.add(Side::target, Step::transfer);
    move->entry.method = method;
    move->plan.body = parse_json(R"({"Env": ["A=B"], "Image": "x"})")->as_object();
    Entry entry = move->entry;
    entry.step = step;
    CHECK(host.await(host.records.save(move, entry)));
    return *parse_json(host.host.rows.rows_.at(entry.id).plan);
  };
  CHECK(member(member(kept(Method::birth, Step::transfer), "body"), "Env").is_array());
  CHECK_FALSE(kept(Method::birth, Step::undone).as_object().contains("body"));
  const boost::json::value born = kept(Method::birth, Step::done);
  CHECK(text_of(member(born, "body"), "Image") == "x");
  CHECK(member(member(born, "body"), "Env").is_null());
  CHECK_FALSE(kept(Method::app, Step::done).as_object().contains("body"));
}
