// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/records.h"

#include "tests/cluster/migration/run/migrator_fakes.h"

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

TEST_CASE("where containers went is known after a start, from the whole journal") {
  OneHost host;
  const auto end = [&](const std::string& name, Step step) {
    const MovePtr move = host.add(Side::source, Step::transfer, name);
    Entry entry = move->entry;
    entry.step = step;
    CHECK(host.await(host.records.save(move, entry)));
    host.pass(1);
  };
  end("first", Step::done);
  end("second", Step::undone);
  end("third", Step::done);
  OpenMoves fresh(host.world);
  Records records(host.world, fresh);
  host.host.rows.rows_["x"] = {"x", "no JSON", "{}", 0, 0.5};
  const std::function<void(MovePtr)> launch = [&](const MovePtr& move) { fresh.add(move); };
  CHECK(host.await(records.read(launch)));
  const std::vector<Way> ways = fresh.ways();
  REQUIRE(ways.size() == 2);
  CHECK(ways.front().name == "third");
  CHECK(ways.back().name == "first");
  CHECK(ways.back().container == std::string(64, 'a'));
}

TEST_CASE("what ends while the journal is taken up is shown, and where it went is known") {
  OneHost host;
  const MovePtr move = host.add(Side::source, Step::reserve);
  move->plan.image.id = "sha256:" + std::string(64, 'a');
  move->plan.body["Image"] = move->plan.image.id;
  Entry entry = move->entry;
  CHECK(host.await(host.records.save(move, entry)));
  OpenMoves fresh(host.world);
  Records records(host.world, fresh);
  const std::function<void(MovePtr)> launch = [&](const MovePtr& taken) {
    taken->written.step = Step::done;
    fresh.close(taken);
  };
  CHECK(host.await(records.read(launch)));
  CHECK(fresh.list(10).size() == 1);
  CHECK(fresh.ways().size() == 1);
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
