// SPDX-License-Identifier: Apache-2.0
// Whole moves, both halves, through the real migrator: with fakes of engine, files, journal,
// network and clock, so that what takes minutes takes milliseconds.
#include "tests/cluster/migration/run/two_hosts.h"

using namespace flowcon;
using namespace flowcon::cluster;
using namespace flowcon::cluster::test;

namespace {

using Words = std::vector<std::string>;

const Words kSourceSteps{"reserve", "save", "transfer", "start", "remove", "done"};
const Words kTargetSteps{"reserve", "transfer", "ready", "start", "confirm", "done"};

// Each step once: a row may be written again at its step.
Words without_repeats(Words steps) {
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

// Begins a move that waits at `step` of that side ("transfer"), for so long.
void begin_held(TwoHosts& hosts, TwoHosts::Side& side, const std::string& where,
                const std::string& step) {
  hold_at(where + "." + step + ":60");
  REQUIRE(hosts.begin().empty());
  REQUIRE(hosts.until([&] { return side.rows.step() == step; }));
  hosts.pass(0.01);
}

// So many of the first sends of a part get no answer, whether the part comes or not.
void cut(TwoHosts& hosts, const std::string& part, int sends, bool comes) {
  const auto left = std::make_shared<int>(sends);
  hosts.source.goods.carry_ = [=, carry = hosts.source.goods.carry_](
                                  std::string method, std::string path,
                                  ctrl::Pull body) -> Async<Result<Answer>> {
    const bool is_cut = path.ends_with(part) && (*left)-- > 0;
    Result<Answer> said = errno_error(EPIPE, "the connection was cut");
    if (is_cut && !comes) co_return said;
    said = co_await carry(std::move(method), std::move(path), std::move(body));
    if (is_cut) co_return errno_error(EPIPE, "the connection was cut");
    co_return said;
  };
}

}  // namespace

TEST_CASE("a move brings the job, what it saved and its restart policy to the target") {
  TwoHosts hosts;
  REQUIRE(hosts.begin().empty());
  REQUIRE(hosts.ends());
  CHECK(hosts.outcome() == "2 done done");
  CHECK_FALSE(hosts.has_two);
  CHECK(without_repeats(hosts.source.rows.steps_) == kSourceSteps);
  CHECK(without_repeats(hosts.target.rows.steps_) == kTargetSteps);
  CHECK(hosts.source.engine.boxes_.empty());
  const Box& copy = *hosts.target.engine.first();
  CHECK(copy.name == "plain");
  CHECK(copy.lives == 1);
  CHECK(text_of(copy.policy, "Name") == "unless-stopped");
  CHECK(hosts.target.goods.parts_.at("path") == "bytes of path");
  CHECK(hosts.target.goods.images_.size() == 1);
  CHECK(hosts.target.lives.imports_ == 1);
}

TEST_CASE("what the target has to look long at is asked over a connection of its own") {
  TwoHosts hosts;
  (void)hosts.answer(hosts.source, "POST migrate", R"({"dry_run":true})");
  REQUIRE(hosts.begin().empty());
  REQUIRE(hosts.ends());
  CHECK(hosts.source.network.long_asks_ == Words{"/v1/peer/moves/check", "/v1/peer/moves"});
  CHECK(hosts.target.network.long_asks_.empty());
}

TEST_CASE("what the target has against a move is said before anything is stopped") {
  TwoHosts hosts;
  hosts.target.engine.conflicts_ = {"there is a container of that name"};
  REQUIRE(hosts.begin().empty());
  REQUIRE(hosts.ends());
  CHECK(hosts.outcome() == "1 undone ");
  CHECK(hosts.source.engine.acts_ == Words{});
}

TEST_CASE("a rehearsal tells what would travel, and how long jobs stood still before") {
  TwoHosts hosts;
  hosts.source.goods.image_bytes_ = 5000;
  const auto rehearsed = [&hosts] {
    const auto said = hosts.answer(hosts.source, "POST migrate", R"({"dry_run":true})");
    REQUIRE(said.status == 200);
    return parse_json(said.body)->as_object();
  };
  const boost::json::object before = rehearsed();
  CHECK(before.at("obstacles").as_array().empty());
  CHECK(before.at("image_bytes").to_number<int>() == 5000);
  CHECK(before.at("layers").to_number<int>() == 1);
  CHECK(before.at("layers_there").to_number<int>() == 0);
  CHECK(before.at("stopped_seconds").is_null());
  CHECK(hosts.outcome() == "1  ");

  CHECK(before.at("missing_bytes").to_number<int>() == 5000);
  CHECK(before.at("rate").is_null());

  hosts.source.goods.layers_ = 3;
  hosts.target.goods.layers_there_ = 2;
  hosts.source.goods.history_ = R"([{"Size":0},{"Size":700},{"Size":300},{"Size":4000}])";
  CHECK(rehearsed().at("missing_bytes").to_number<int>() == 700);
  hosts.source.goods.history_ = "[]";
  CHECK(rehearsed().at("missing_bytes").is_null());

  hosts.target.goods.images_ = hosts.source.goods.images_;
  CHECK(rehearsed().at("layers_there").to_number<int>() == 3);
}

TEST_CASE("a rehearsal tells the rate of the last transfer to that host") {
  TwoHosts hosts;
  const auto sent = [&](const std::string& id, const std::string& more) {
    hosts.source.rows.rows_[id] = {id, "", R"({"shown":{"side":"source",)" + more + "}}", 1, 2};
  };
  sent("a", R"("target":")" + host_id('3') + R"(","bytes":2000000,"rate":7)");
  sent("b", R"("target":")" + host_id('2') + R"(","bytes":2000,"rate":8)");
  sent("c", R"("target":")" + host_id('2') + R"(","bytes":2000000,"rate":500000)");
  hosts.restart(hosts.source);
  const auto said = hosts.answer(hosts.source, "POST migrate", R"({"dry_run":true})");
  REQUIRE(said.status == 200);
  CHECK(parse_json(said.body)->at("rate").to_number<int>() == 500000);
}

TEST_CASE("a step that cannot be written is not done, and the job goes on where it was") {
  for (const Step step : {Step::save, Step::transfer}) {
    INFO(name(step));
    TwoHosts hosts;
    hosts.source.rows.refused_ = {step};
    REQUIRE(hosts.begin().empty());
    REQUIRE(hosts.ends());
    CHECK(hosts.outcome() == "1 undone undone");
    CHECK_FALSE(hosts.has_two);
    CHECK(text_of(hosts.source.engine.first()->policy, "Name") == "unless-stopped");
    CHECK(hosts.target.engine.boxes_.empty());
  }
}

TEST_CASE("a journal that takes nothing keeps no job down") {
  TwoHosts hosts;
  begin_held(hosts, hosts.source, "source", "transfer");
  hosts.source.rows.refused_ = {Step::start, Step::undo, Step::undone};
  CHECK(hosts.call(hosts.source, "POST cancel-move") == 200);
  REQUIRE(hosts.until([&] { return hosts.source.engine.runs(); }));
  CHECK(hosts.source.rows.step() == "transfer");
  hosts.source.rows.refused_.clear();
  REQUIRE(hosts.ends());
  CHECK(hosts.outcome() == "1 undone undone");
  CHECK_FALSE(hosts.has_two);
}

TEST_CASE("a hand-over that cannot be written is tried until it is, and no copy runs before") {
  TwoHosts hosts;
  hosts.source.rows.refused_ = {Step::start};
  REQUIRE(hosts.begin().empty());
  REQUIRE(hosts.until([&] { return hosts.source.rows.refusals_ > 5; }));
  CHECK_FALSE(hosts.source.engine.runs());
  CHECK_FALSE(hosts.target.engine.runs());
  hosts.source.rows.refused_.clear();
  REQUIRE(hosts.ends());
  CHECK(hosts.outcome() == "2 done done");
  CHECK_FALSE(hosts.has_two);
}

TEST_CASE("the source's flowcond is killed at each step: one copy runs in the end") {
  struct Row {
    const char* step;
    const char* outcome;
  };
  for (const Row& row : {Row{"reserve", "1"}, Row{"save", "1"}, Row{"transfer", "1"},
                         Row{"start", "2"}, Row{"remove", "2"}}) {
    INFO(row.step);
    TwoHosts hosts;
    begin_held(hosts, hosts.source, "source", row.step);
    hold_at("");
    hosts.restart(hosts.source);
    REQUIRE(hosts.ends());
    CHECK(hosts.outcome().substr(0, 1) == row.outcome);
    CHECK_FALSE(hosts.has_two);
    const std::size_t left = hosts.source.engine.boxes_.size() + hosts.target.engine.boxes_.size();
    CHECK(left == 1);
  }
}

TEST_CASE("the target's flowcond is killed at each step: one copy runs in the end") {
  struct Row {
    const char* step;
    const char* outcome;
  };
  for (const Row& row : {Row{"reserve", "1"}, Row{"transfer", "1"}, Row{"ready", "2"},
                         Row{"start", "2"}, Row{"confirm", "2"}}) {
    INFO(row.step);
    TwoHosts hosts;
    begin_held(hosts, hosts.target, "target", row.step);
    hold_at("");
    hosts.restart(hosts.target);
    REQUIRE(hosts.ends());
    CHECK(hosts.outcome().substr(0, 1) == row.outcome);
    CHECK_FALSE(hosts.has_two);
    const std::size_t left = hosts.source.engine.boxes_.size() + hosts.target.engine.boxes_.size();
    CHECK(left == 1);
  }
}

TEST_CASE("a target that is lost before the hand-over costs the job its pause alone") {
  TwoHosts hosts;
  begin_held(hosts, hosts.target, "target", "transfer");
  hosts.is_cut = true;
  REQUIRE(hosts.until([&] { return hosts.source.engine.runs(); }, 120));
  hosts.is_cut = false;
  REQUIRE(hosts.ends());
  CHECK(hosts.outcome() == "1 undone undone");
  CHECK_FALSE(hosts.has_two);
}

TEST_CASE("a reservation whose image does not come ends when its source has given up") {
  TwoHosts hosts;
  hosts.target.goods.refuses_images_ = "the layers make no image";
  REQUIRE(hosts.begin().empty());
  REQUIRE(hosts.until([&] { return hosts.source.rows.step() == "undone"; }, 60));
  CHECK(hosts.ends(60));
  CHECK(hosts.outcome() == "1 undone undone");
}

TEST_CASE("after the hand-over only a person's word takes the job back from a lost target") {
  TwoHosts hosts;
  begin_held(hosts, hosts.source, "source", "start");
  hosts.kill(hosts.target);
  hosts.source.network.neighbours_.front().is_reachable = false;
  hosts.pass(3600);
  CHECK(hosts.outcome() == "- start ready");
  CHECK(hosts.call(hosts.source, "POST cancel-move") == 409);
  CHECK(hosts.call(hosts.source, "POST take-back") == 200);
  REQUIRE(hosts.until([&] { return hosts.source.engine.runs(); }));
  // It comes back, and has to give up.
  hosts.start(hosts.target);
  hosts.source.network.neighbours_.front().is_reachable = true;
  REQUIRE(hosts.ends());
  CHECK(hosts.outcome() == "1 undone undone");
  CHECK_FALSE(hosts.has_two);
}

TEST_CASE("a job that ends by itself before it is asked to save is not started again") {
  TwoHosts hosts;
  hosts.source.engine.first()->policy = {{"Name", "no"}};
  Inspected plain("20.10-plain");
  plain.config()["Labels"] =
      boost::json::object{{"flowcon.migrate", "app"}, {"flowcon.checkpoint.path", "/ckpt"}};
  hosts.source.engine.inspect_ = plain.value;
  begin_held(hosts, hosts.source, "source", "save");
  hosts.source.engine.end(hosts.source.engine.first()->id, Copy::finished, 0);
  REQUIRE(hosts.ends());
  CHECK(hosts.outcome() == "- undone undone");
  CHECK(hosts.source.engine.first()->lives == 1);
  CHECK(hosts.target.engine.boxes_.empty());
}

TEST_CASE("a copy that fails at its start is removed, and the job goes on at its source") {
  TwoHosts hosts;
  hosts.target.engine.fails_at_start_ = true;
  hosts.target.engine.last_words_ = "no such file: /data";
  REQUIRE(hosts.begin().empty());
  REQUIRE(hosts.ends());
  CHECK(hosts.outcome() == "1 undone undone");
  CHECK(hosts.source.rows.reason() ==
        "the target gave it back: it failed before it had shown that it runs on: status 1 after 0 "
        "s, \"no such file: /data\"");
  CHECK_FALSE(hosts.has_two);
  CHECK(hosts.target.engine.boxes_.empty());
}

TEST_CASE("a person who starts the container on the source is stopped again") {
  TwoHosts hosts;
  begin_held(hosts, hosts.target, "target", "ready");
  REQUIRE(hosts.until([&] { return hosts.source.rows.step() == "start"; }));
  Box& box = *hosts.source.engine.first();
  ++box.lives;
  box.copy = Copy::running;
  hosts.source.engine.tell("start", box.id);
  REQUIRE(hosts.until([&] { return !hosts.source.engine.runs(); }, 1));
  REQUIRE(hosts.ends());
  CHECK(hosts.outcome() == "2 done done");
  CHECK_FALSE(hosts.has_two);
  CHECK(hosts.source.host.warnings_.size() == 1);
}

TEST_CASE("a job that does not end in its time runs on, and the move says why") {
  TwoHosts hosts;
  hosts.source.engine.ignores_signals_ = true;
  REQUIRE(hosts.begin().empty());
  REQUIRE(hosts.ends());
  CHECK(hosts.outcome() == "1 undone undone");
  CHECK(hosts.source.engine.first()->lives == 1);
  const Result<Entry> entry = parse_entry(hosts.source.rows.rows_.begin()->second.entry);
  REQUIRE(entry.has_value());
  CHECK(entry->reason.find("it has not ended") != std::string::npos);
}

TEST_CASE("flowcond that stops in a move has the job run here before it ends") {
  TwoHosts hosts;
  begin_held(hosts, hosts.source, "source", "transfer");
  bool is_settled = false;
  auto life = [&]() -> Async<void> {
    co_await hosts.source.migrator().settle(5);
    is_settled = true;
  };
  ctrl::spawn(hosts.io, "test", life);
  REQUIRE(hosts.until([&] { return is_settled; }, 60));
  CHECK(hosts.source.engine.runs());
  REQUIRE(hosts.ends());
  CHECK(hosts.outcome() == "1 undone undone");
}

TEST_CASE("a move that is measured while flowcond stops does not begin any more") {
  TwoHosts hosts;
  hosts.source.files.measure_lasts_ = 10;
  std::string said = "?";
  MoveOrder order;
  order.container = "plain";
  order.target = host_id('2');
  auto life = [&]() -> Async<void> {
    const Result<std::string> id = co_await hosts.source.migrator().begin(order);
    said = id ? "" : id.error().what;
  };
  ctrl::spawn(hosts.io, "test", life);
  hosts.pass(1);
  REQUIRE(said == "?");
  auto stop = [&]() -> Async<void> { co_await hosts.source.migrator().settle(5); };
  ctrl::spawn(hosts.io, "stop", stop);
  REQUIRE(hosts.until([&] { return said != "?"; }, 60));
  CHECK(said == "flowcond is being stopped");
  CHECK(hosts.source.rows.rows_.empty());
  CHECK(hosts.source.engine.acts_ == Words{});
}

TEST_CASE("a journal that does not answer whether a move has begun lets it not begin again") {
  TwoHosts hosts;
  hosts.source.rows.is_unreadable_ = true;
  CHECK(hosts.begin(std::string(32, 'b')) == "reading the journal");
  CHECK(hosts.source.rows.rows_.empty());
}

TEST_CASE("all that travels goes over one connection, which is opened before the job has saved") {
  TwoHosts hosts;
  REQUIRE(hosts.begin().empty());
  REQUIRE(hosts.ends());
  CHECK(hosts.outcome() == "2 done done");
  CHECK(hosts.source.goods.connections_ == 1);
}

TEST_CASE("a connection that the peer may have closed by now is not used") {
  TwoHosts hosts;
  begin_held(hosts, hosts.source, "source", "transfer");
  CHECK(hosts.source.goods.connections_ == 1);
  REQUIRE(hosts.ends());
  CHECK(hosts.outcome() == "2 done done");
  CHECK(hosts.source.goods.connections_ == 2);
}

TEST_CASE("a part that has come is not sent again where its answer is lost") {
  TwoHosts hosts;
  cut(hosts, "/life", 1, true);
  REQUIRE(hosts.begin().empty());
  REQUIRE(hosts.ends());
  CHECK(hosts.outcome() == "2 done done");
}

TEST_CASE(
    "a part whose answer was lost undoes no move while its target cannot say that it has it") {
  TwoHosts hosts;
  // Its target alone is not heard, or neither is.
  const bool is_source_mute = GENERATE(false, true);
  double mute_until = 0;
  for (TwoHosts::Side* side : {&hosts.source, &hosts.target}) {
    if (side == &hosts.source && !is_source_mute) continue;
    const FakeLink::Ask ask = side->network.ask_;
    side->network.ask_ = [&, ask](std::string method, std::string path,
                                  std::string body) -> Async<Result<Answer>> {
      if (hosts.clock.steady() < mute_until) co_return errno_error(ENOTCONN, "no connection");
      Result<Answer> said = co_await ask(std::move(method), std::move(path), std::move(body));
      co_return said;
    };
  }
  const Carry carry = hosts.source.goods.carry_;
  hosts.source.goods.carry_ = [&](std::string method, std::string path,
                                  ctrl::Pull body) -> Async<Result<Answer>> {
    const bool is_first = path.ends_with("/life") && mute_until == 0;
    Result<Answer> said = co_await carry(std::move(method), std::move(path), std::move(body));
    if (!is_first) co_return said;
    mute_until = hosts.clock.steady() + 10;
    co_return errno_error(EPIPE, "the connection was cut");
  };
  REQUIRE(hosts.begin().empty());
  REQUIRE(hosts.ends());
  CHECK(hosts.outcome() == "2 done done");
}

TEST_CASE("an image whose connection was cut is sent again") {
  TwoHosts hosts;
  cut(hosts, "/image", 2, false);
  REQUIRE(hosts.begin().empty());
  REQUIRE(hosts.ends());
  CHECK(hosts.outcome() == "2 done done");
  CHECK(hosts.source.goods.image_sends_ == 3);
}

TEST_CASE("a target that takes nothing for a day does not keep the job down any longer") {
  TwoHosts hosts;
  const Carry carry = hosts.source.goods.carry_;
  hosts.source.goods.carry_ = [&](std::string method, std::string path,
                                  ctrl::Pull body) -> Async<Result<Answer>> {
    if (path.ends_with("/life")) {
      hosts.is_cut = true;
      co_await hosts.clock.pause(10 * 24 * 3600.0);
      co_return errno_error(EPIPE, "it was cut");
    }
    Result<Answer> said = co_await carry(std::move(method), std::move(path), std::move(body));
    co_return said;
  };
  hosts.target.goods.images_ = hosts.source.goods.images_;
  REQUIRE(hosts.begin().empty());
  REQUIRE(hosts.until([&] { return hosts.is_cut; }));
  CHECK_FALSE(hosts.source.engine.runs());
  // All that waits is woken once, not at each of its looks.
  const double later = hosts.clock.steady() + 24 * 3600.0;
  while (hosts.clock.advance(later)) {
  }
  CHECK(hosts.until([&] { return hosts.source.engine.runs(); }, 3600));
}

TEST_CASE("a journal that cannot be read lets no move begin, and is read when it can be") {
  TwoHosts hosts;
  hosts.kill(hosts.source);
  hosts.source.rows.is_unreadable_ = true;
  hosts.start(hosts.source);
  CHECK(hosts.begin().starts_with("the journal of migrations was not read yet"));
  CHECK_FALSE(hosts.source.migrator().open_with(host_id('2')).has_value());
  hosts.source.rows.is_unreadable_ = false;
  hosts.pass(60);
  REQUIRE(hosts.begin().empty());
  REQUIRE(hosts.ends());
  CHECK(hosts.outcome() == "2 done done");
}
