// SPDX-License-Identifier: Apache-2.0
// All that a job with a task elsewhere can come to, and what becomes of it under rules that are
// wrong in one place.
#include "tests/cluster/queue/task_model.h"

#include "tests/support/catch.h"

namespace flowcon::cluster::queue::tasks {
namespace {

std::string found(const Rule& rule) { return Explorer(rule).run(); }

template <class Change>
Rule but(Change change) {
  return [change](const JobEntry& entry, const JobFacts& facts) {
    return change(entry, facts, next_step(entry, facts));
  };
}

TEST_CASE("whatever two faults do around a task elsewhere, no job is lost or run twice") {
  Explorer explorer(next_step);
  const std::string found = explorer.run();
  INFO(explorer.states() << " states: " << found << explorer.path());
  CHECK(found.empty());
  CHECK(explorer.states() > 4'000);
}

TEST_CASE("the checker finds a birth that is released before that is written") {
  CHECK(found(but([](const JobEntry& entry, const JobFacts&, Step right) {
          if (entry.state == JobState::placing && right.act == Act::release) right.entry.reset();
          return right;
        })) == "a birth is released by no entry");
}

TEST_CASE("the checker finds a birth made early that is released before its host keeps room") {
  CHECK(found([](const JobEntry& entry, const JobFacts& facts) {
          JobFacts hasty = facts;
          hasty.task.has_room = true;
          return next_step(entry, hasty);
        }) == "a birth is released without its room");
}

TEST_CASE("the checker finds a job that starts where it was sent, and was ordered elsewhere") {
  CHECK(found([](const JobEntry& entry, const JobFacts& facts) {
          JobFacts blind = facts;
          if (entry.task && facts.order) blind.order->host = entry.task->host;
          return next_step(entry, blind);
        }) == "it starts elsewhere");
}

TEST_CASE("the checker finds a job that was sent and is held, and whose birth stays") {
  CHECK(found(but([](const JobEntry& entry, const JobFacts& facts, Step right) {
          const bool drops = entry.state == JobState::waiting && entry.is_held && entry.task &&
                             right.act == Act::withdraw;
          if (!drops) return right;
          JobEntry next = entry;
          next.task.reset();
          ++next.version;
          next.state = JobState::waiting;
          return facts.task.birth == Stage::ready ? Step{Act::none, next} : right;
        })) != "");
}

TEST_CASE("the checker finds a job that waits again while its birth is handed over") {
  CHECK(found([](const JobEntry& entry, const JobFacts& facts) {
          JobFacts hasty = facts;
          const bool is_away = entry.task && facts.task.birth == Stage::handed_over;
          if (is_away && entry.state == JobState::starting) hasty.task.birth = Stage::undone;
          return next_step(entry, hasty);
        }) != "");
}

TEST_CASE("the checker finds a silent host whose task is taken for ended") {
  CHECK(found([](const JobEntry& entry, const JobFacts& facts) {
          JobFacts hasty = facts;
          const bool is_silent = entry.task && facts.task.copy == TicketCopy::unknown;
          if (is_silent && entry.state == JobState::running) hasty.task.copy = TicketCopy::ended;
          return next_step(entry, hasty);
        }) != "");
}

TEST_CASE("the checker finds a job that is over before its results are home") {
  CHECK(found(but([](const JobEntry& entry, const JobFacts&, Step right) {
          const bool ends = entry.task && right.entry && right.entry->task &&
                            right.entry->state == JobState::returning;
          if (!ends) return right;
          right.entry->state = *right.entry->task->then;
          right.entry->task.reset();
          return right;
        })) != "");
}

TEST_CASE("the checker finds a cancelled job whose task goes on") {
  CHECK(found([](const JobEntry& entry, const JobFacts& facts) {
          JobFacts blind = facts;
          const bool stops = entry.task && entry.state == JobState::stopping;
          if (stops && facts.task.birth == Stage::done) blind.task.birth = Stage::undone;
          return next_step(entry, blind);
        }) != "");
}

TEST_CASE("the checker finds a birth that is left when its ticket is removed") {
  CHECK(found(but([](const JobEntry&, const JobFacts&, Step right) {
          if (right.act == Act::withdraw) right.act = Act::none;
          return right;
        })).starts_with("no end in calm"));
}

TEST_CASE("the checker finds a return that is not tried again") {
  CHECK(found([](const JobEntry& entry, const JobFacts& facts) {
          JobFacts patient = facts;
          if (facts.task.back == Stage::undone) patient.task.back = Stage::under_way;
          return next_step(entry, patient);
        }).starts_with("no end in calm"));
}

TEST_CASE("the checker finds a parked task that is called done") {
  CHECK(found(but([](const JobEntry& entry, const JobFacts&, Step right) {
          const bool parks = entry.task && entry.state == JobState::parking && right.entry &&
                             right.entry->task && right.entry->task->then;
          if (parks) right.entry->task->then = JobState::done;
          return right;
        })) == "what has not come to its end is done");
}

TEST_CASE("the checker finds a ticket that is left running beside its task") {
  CHECK(found(but([](const JobEntry&, const JobFacts&, Step right) {
          if (right.act == Act::halt) right.act = Act::none;
          return right;
        })).starts_with("no end in calm"));
}

}  // namespace
}  // namespace flowcon::cluster::queue::tasks
