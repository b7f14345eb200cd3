// SPDX-License-Identifier: Apache-2.0
// A job's task is born on another host of its ticket, and what it has written comes home: both
// halves, through the real migrator, with fakes of engine, files, journal, network and clock.
#include "tests/cluster/migration/run/births.h"

using namespace flowcon;
using namespace flowcon::cluster;
using namespace flowcon::cluster::test;

TEST_CASE(
    "a birth waits at its target until it is released, then its task runs and the ticket stays") {
  Births hosts;
  REQUIRE(hosts.bear().empty());
  REQUIRE(hosts.comes_to(hosts.target, kBirth, "ready"));
  REQUIRE(hosts.target.migrator().expected_births().size() == 1);
  CHECK(policy::amount_of(hosts.target.migrator().expected_births()[0].request, "mem") == 1e9);
  hosts.pass(1000);
  CHECK(hosts.step(hosts.source, kBirth) == "transfer");
  REQUIRE(hosts.passage(hosts.source, kBirth));
  CHECK(hosts.passage(hosts.source, kBirth)->is_ready);
  CHECK_FALSE(hosts.target.engine.runs());

  hosts.source.migrator().release(kBirth);
  REQUIRE(hosts.comes_to(hosts.source, kBirth, "done"));
  REQUIRE(hosts.comes_to(hosts.target, kBirth, "done"));
  CHECK(hosts.target.engine.runs());
  CHECK(hosts.target.engine.first()->lives == 1);
  REQUIRE(hosts.ticket());
  CHECK(hosts.ticket()->copy == Copy::created);
  CHECK(hosts.target.migrator().expected_births().empty());
  CHECK(policy::amount_of(hosts.passage(hosts.target, kBirth)->request, "cpu") == 1);
}

TEST_CASE("a task that fails at once is born all the same, and is not started again") {
  Births hosts;
  hosts.target.engine.fails_at_start_ = true;
  REQUIRE(hosts.bear().empty());
  hosts.source.migrator().release(kBirth);
  REQUIRE(hosts.comes_to(hosts.source, kBirth, "done"));
  REQUIRE(hosts.comes_to(hosts.target, kBirth, "done"));
  CHECK(hosts.target.engine.first()->lives == 1);
  CHECK(hosts.target.engine.first()->copy == Copy::failed);
}

TEST_CASE("a task that its engine refuses to start is not born") {
  Births hosts;
  hosts.target.engine.refuses_start_ = "no such runtime";
  REQUIRE(hosts.bear().empty());
  hosts.source.migrator().release(kBirth);
  REQUIRE(hosts.comes_to(hosts.source, kBirth, "undone"));
  CHECK(hosts.target.engine.boxes_.empty());
  CHECK(hosts.passage(hosts.source, kBirth)->entry.reason.find("no such runtime") !=
        std::string::npos);
  CHECK(hosts.ticket()->copy == Copy::created);
}

TEST_CASE("a host without room turns a birth down") {
  Births hosts;
  hosts.target.migrator().judge_room(
      [](const policy::Amounts&) { return std::string("it has no room"); });
  REQUIRE(hosts.bear().empty());
  REQUIRE(hosts.comes_to(hosts.source, kBirth, "undone"));
  CHECK(hosts.passage(hosts.source, kBirth)->entry.reason.find("no room") != std::string::npos);
}

TEST_CASE("a birth is turned back before it is handed over, and not after") {
  Births hosts;
  REQUIRE(hosts.bear().empty());
  REQUIRE(hosts.comes_to(hosts.target, kBirth, "ready"));
  hosts.source.migrator().turn_back(kBirth, "it is cancelled");
  REQUIRE(hosts.comes_to(hosts.source, kBirth, "undone"));
  REQUIRE(hosts.comes_to(hosts.target, kBirth, "undone"));
  CHECK(hosts.target.engine.boxes_.empty());
  CHECK(hosts.ticket()->copy == Copy::created);

  Births others;
  others.be_born();
  others.source.migrator().turn_back(kBirth, "it is cancelled");
  CHECK(others.target.engine.runs());
}

TEST_CASE("a ticket that is started by hand, or removed, ends its birth") {
  const bool is_removed = GENERATE(false, true);
  const std::string at = GENERATE("", "ready");
  INFO(at);
  Births hosts;
  REQUIRE(hosts.bear().empty());
  if (!at.empty()) REQUIRE(hosts.comes_to(hosts.target, kBirth, at));
  if (is_removed) {
    hosts.source.engine.boxes_.erase(hosts.id);
  } else {
    hosts.source.engine.boxes_.at(hosts.id).copy = Copy::running;
    hosts.source.engine.boxes_.at(hosts.id).lives = 1;
  }
  hosts.source.migrator().release(kBirth);
  REQUIRE(hosts.comes_to(hosts.source, kBirth, "undone"));
  REQUIRE(hosts.comes_to(hosts.target, kBirth, "undone"));
  CHECK_FALSE(hosts.target.engine.runs());
  CHECK(hosts.source.engine.runs() == !is_removed);
}

TEST_CASE("a ticket that ran by hand while its birth waited is not the one that it was") {
  Births hosts;
  REQUIRE(hosts.bear().empty());
  REQUIRE(hosts.comes_to(hosts.target, kBirth, "ready"));
  Box& ticket = hosts.source.engine.boxes_.at(hosts.id);
  ticket.copy = Copy::finished;
  ticket.lives = 1;
  REQUIRE(hosts.comes_to(hosts.source, kBirth, "undone"));
}

TEST_CASE("flowcond of either side is killed at each step of a birth: one task runs, or none") {
  struct Row {
    bool is_source;
    std::string step;
    bool is_born;
  };
  const auto row = GENERATE(
      Row{true, "reserve", false}, Row{true, "transfer", false}, Row{true, "start", true},
      Row{true, "remove", true}, Row{false, "reserve", false}, Row{false, "transfer", false},
      Row{false, "ready", true}, Row{false, "start", true}, Row{false, "confirm", true});
  INFO((row.is_source ? "source." : "target.") << row.step);
  Births hosts;
  TwoHosts::Side& side = row.is_source ? hosts.source : hosts.target;
  hold_at((row.is_source ? "source." : "target.") + row.step + ":5");
  REQUIRE(hosts.bear().empty());
  hosts.source.migrator().release(kBirth);
  REQUIRE(hosts.comes_to(side, kBirth, row.step));
  hosts.pass(0.01);
  hosts.restart(side);
  hold_at("");
  if (row.is_born && !row.is_source) hosts.source.migrator().release(kBirth);
  const std::string end = row.is_born ? "done" : "undone";
  REQUIRE(hosts.comes_to(hosts.source, kBirth, end));
  CHECK(hosts.target.engine.runs() == row.is_born);
  if (row.is_born) CHECK(hosts.target.engine.first()->lives == 1);
  CHECK(hosts.ticket()->copy == Copy::created);
}

TEST_CASE("what an ended task has written comes home into the ticket, and its copy goes") {
  Births hosts;
  hosts.be_born();
  hosts.set_out_for_home(1);
  REQUIRE(hosts.comes_to(hosts.source, kReturn, "done"));
  REQUIRE(hosts.comes_to(hosts.target, kReturn, "done"));
  CHECK(hosts.target.engine.boxes_.empty());
  REQUIRE(hosts.ticket());
  CHECK(hosts.ticket()->lives == 0);
  CHECK(hosts.source.goods.parts_.at("log") == "bytes of log");
  CHECK(hosts.source.lives.imports_ == 1);
  CHECK(hosts.source.engine.boxes_.size() == 1);
}

TEST_CASE("a task that was born comes home however its engine maps users by then") {
  Births hosts;
  hosts.be_born();
  hosts.target.engine.user_mapping_ = "1000.1000";
  hosts.set_out_for_home();
  CHECK(hosts.comes_to(hosts.source, kReturn, "done"));
  CHECK(hosts.comes_to(hosts.target, kReturn, "done"));
}

TEST_CASE("the image of a task that is over is there for the next one") {
  Births hosts;
  hosts.be_born();
  hosts.set_out_for_home();
  REQUIRE(hosts.comes_to(hosts.target, kReturn, "done"));
  hosts.pass(600);
  CHECK(hosts.target.goods.moved_.size() == 1);
  CHECK(hosts.target.goods.images_.size() == 1);
}

TEST_CASE("a return that nobody expects, of another birth, or of a task that runs is refused") {
  Births hosts;
  hosts.be_born();
  CHECK(hosts.go_home() != "");
  hosts.end_task(0);
  REQUIRE(hosts.go_home(std::string(32, 'd')).empty());
  REQUIRE(hosts.comes_to(hosts.target, std::string(32, 'd'), "undone"));
  CHECK(hosts.target.engine.boxes_.size() == 1);
  hosts.source.migrator().expect(kReturn, std::string(32, 'e'));
  REQUIRE(hosts.go_home().empty());
  REQUIRE(hosts.comes_to(hosts.target, kReturn, "undone"));
  CHECK(hosts.source.goods.parts_.empty());
}

TEST_CASE("flowcond of either side is killed at each step of a return: nothing is lost") {
  struct Row {
    bool is_owner;
    std::string step;
    bool is_home;
  };
  const auto row =
      GENERATE(Row{false, "reserve", false}, Row{false, "transfer", false},
               Row{false, "start", true}, Row{false, "remove", true}, Row{true, "transfer", false},
               Row{true, "ready", true}, Row{true, "start", true}, Row{true, "confirm", true});
  INFO((row.is_owner ? "owner." : "host.") << row.step);
  Births hosts;
  hosts.be_born();
  hosts.end_task(0);
  hosts.source.migrator().expect(kReturn, kBirth);
  TwoHosts::Side& side = row.is_owner ? hosts.source : hosts.target;
  hold_at((row.is_owner ? "target." : "source.") + row.step + ":5");
  REQUIRE(hosts.go_home().empty());
  REQUIRE(hosts.comes_to(side, kReturn, row.step));
  hosts.pass(0.01);
  hosts.restart(side);
  hold_at("");
  const std::string end = row.is_home ? "done" : "undone";
  REQUIRE(hosts.comes_to(hosts.target, kReturn, end));
  CHECK(hosts.target.engine.boxes_.empty() == row.is_home);
  REQUIRE(hosts.ticket());
  CHECK_FALSE(hosts.source.engine.runs());
}

TEST_CASE("a ticket that is removed while its data comes home leaves the copy where it is") {
  Births hosts;
  hosts.be_born();
  hosts.end_task(0);
  hosts.source.migrator().expect(kReturn, kBirth);
  hold_at("target.ready:60");
  REQUIRE(hosts.go_home().empty());
  REQUIRE(hosts.comes_to(hosts.source, kReturn, "ready"));
  hosts.source.engine.boxes_.erase(hosts.id);
  hold_at("");
  REQUIRE(hosts.comes_to(hosts.target, kReturn, "undone"));
  CHECK(hosts.target.engine.boxes_.size() == 1);
}
