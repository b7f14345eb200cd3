// SPDX-License-Identifier: Apache-2.0
// All that one job can come to, and what becomes of it under rules that are wrong in one place.
#include <string>

#include "tests/cluster/queue/job_explorer.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::queue::model {
namespace {

std::string told(const Report& report) {
  std::string text = std::to_string(report.states) + " states, " +
                     std::to_string(report.transitions) + " transitions\n" + report.finding.what;
  for (const std::string& line : report.finding.path) text += "\n  " + line;
  return text;
}

// What the checker says of rules that are wrong in one place.
std::string found(const Rule& rule, Setting setting = {}) {
  return Explorer(rule, setting).run().finding.what;
}

// next_step() but for one change, which gets the right answer to change.
template <class Change>
Rule but(Change change) {
  return [change](const JobEntry& entry, const JobFacts& facts) {
    return change(entry, facts, next_step(entry, facts));
  };
}

// next_step() that is given other facts in one state.
template <class Change>
Rule blind_in(JobState state, Change change) {
  return [state, change](const JobEntry& entry, const JobFacts& facts) {
    JobFacts other = facts;
    if (entry.state == state) change(other, entry);
    return next_step(entry, other);
  };
}

Rule hasty_in(JobState state) {
  return blind_in(state, [](JobFacts& facts, const JobEntry&) { facts.is_quiet = true; });
}

bool comes_to(const JobEntry& entry, const Step& step, JobState from, JobState to) {
  return entry.state == from && step.entry && step.entry->state == to;
}

// The same, and nothing is asked of the engine.
Step written_as(Step step, JobState state) {
  step.entry->state = state;
  step.act = Act::none;
  return step;
}

TEST_CASE("whatever two faults of any kind do, no job is lost or run twice") {
  const Report report = Explorer(next_step, Setting()).run();
  INFO(told(report));
  CHECK(report.finding.what.empty());
  CHECK(report.states > 100'000);
}

TEST_CASE("a job without a retry, and one that cannot save itself, are not lost or run twice") {
  Setting setting;
  setting.max_faults = 1;
  const bool has_checkpoint = GENERATE(false, true);
  (has_checkpoint ? setting.retries : setting.max_faults) = has_checkpoint ? 0 : 1;
  setting.has_checkpoint = has_checkpoint;
  const Report report = Explorer(next_step, setting).run();
  INFO(told(report));
  CHECK(report.finding.what.empty());
  CHECK(report.states > 10'000);
}

// ---- what was asked for and may come yet

TEST_CASE("the checker finds a start that is asked for again while the first may come yet") {
  CHECK(found(hasty_in(JobState::starting)) == "a job that came to its end is started again");
}

TEST_CASE("the checker finds a job that is called cancelled while its start may come yet") {
  CHECK(found(hasty_in(JobState::stopping)) == "a job runs that is closed");
}

TEST_CASE("the checker finds an end that counts while a start may come yet") {
  CHECK(found(hasty_in(JobState::running)) == "a job runs that is closed");
}

TEST_CASE("the checker finds a job that stops parking while its save may come yet") {
  CHECK_FALSE(found(hasty_in(JobState::parking)).empty());
}

// ---- the journal before the act

TEST_CASE("the checker finds a start that is not written first") {
  CHECK(found(but([](const JobEntry&, const JobFacts&, Step right) {
          if (right.act == Act::start) right.entry.reset();
          return right;
        })) == "what is asked of the engine is not in the journal");
}

TEST_CASE("the checker finds a flowcond that starts a job although that cannot be written") {
  Setting setting;
  setting.acts_unwritten = true;
  CHECK(found(next_step, setting) == "a job is started that is waiting");
}

TEST_CASE("the checker finds a version that does not grow") {
  CHECK(found(but([](const JobEntry& entry, const JobFacts&, Step right) {
          if (right.entry && right.entry->state == JobState::running) {
            right.entry->version = entry.version;
          }
          return right;
        })) == "the version does not grow by one");
}

TEST_CASE("the checker finds a start that is no new attempt") {
  CHECK(found(but([](const JobEntry& entry, const JobFacts&, Step right) {
          if (right.entry) right.entry->attempt = entry.attempt;
          return right;
        })) == "an attempt is miscounted");
}

// ---- orders

TEST_CASE("the checker finds a late order that is carried out") {
  const Rule late = blind_in(JobState::waiting, [](JobFacts& facts, const JobEntry& entry) {
    if (facts.order) facts.order->version = entry.version;
  });
  CHECK(found(late) == "it is started by no order, or a late one");
}

TEST_CASE("the checker finds a held job that is started") {
  CHECK(found([](const JobEntry& entry, const JobFacts& facts) {
          JobEntry free = entry;
          JobFacts current = facts;
          free.is_held = false;
          if (entry.is_held && facts.order) current.order->version = entry.version;
          return next_step(free, current);
        }) != "");
}

TEST_CASE("the checker finds a job that is asked again although it cannot save itself") {
  CHECK(found([](const JobEntry& entry, const JobFacts& facts) {
          JobEntry able = entry;
          if (entry.state == JobState::running) able.is_unparkable = false;
          return next_step(able, facts);
        }) == "what cannot save itself is asked again");
}

// ---- lives

TEST_CASE("the checker finds a start that does not see that the job runs, or has run") {
  CHECK(found(blind_in(JobState::starting, [](JobFacts& facts, const JobEntry& entry) {
          if (facts.copy == TicketCopy::ended) facts.life = entry.life;
        })) != "");
}

TEST_CASE("the checker finds a job that waits although a person started it") {
  CHECK(found(blind_in(JobState::waiting, [](JobFacts& facts, const JobEntry& entry) {
          if (facts.copy == TicketCopy::ended) facts.life = entry.life;
        })) == "a job that came to its end is started again");
}

TEST_CASE("the checker finds a save that is taken for one of the life after") {
  CHECK(found([](const JobEntry& entry, const JobFacts& facts) {
          JobFacts same = facts;
          if (entry.state == JobState::running) same.life = entry.life;
          Step step = next_step(entry, same);
          if (step.entry) step.entry->life = facts.life;
          return step;
        }) == "a job that came to its end is started again");
}

TEST_CASE("the checker finds a request to save that is carried over to the next life") {
  CHECK(found(but([](const JobEntry& entry, const JobFacts&, Step right) {
          if (right.entry) right.entry->was_asked_to_save |= entry.was_asked_to_save;
          return right;
        })) != "");
}

TEST_CASE("the checker finds a job that a person parks after its end and that is started again") {
  CHECK(found([](const JobEntry& entry, const JobFacts& facts) {
          JobEntry asked = entry;
          const bool is_late = entry.state == JobState::parking && facts.status == 0;
          if (is_late && facts.copy == TicketCopy::ended) asked.was_asked_to_save = true;
          return next_step(asked, facts);
        }) == "a job that came to its end is started again");
}

TEST_CASE("the checker finds a parking job whose restart by hand is not seen") {
  CHECK(found(blind_in(JobState::parking, [](JobFacts& facts, const JobEntry& entry) {
          if (facts.copy == TicketCopy::running) facts.life = entry.life;
        })) != "");
}

// ---- ends

TEST_CASE("the checker finds a job that is started again after it ended with 0") {
  CHECK(found(but([](const JobEntry& entry, const JobFacts&, Step right) {
          const bool is_done = comes_to(entry, right, JobState::running, JobState::done);
          return is_done ? written_as(std::move(right), JobState::waiting) : right;
        })) != "");
}

TEST_CASE("the checker finds a job that is called done when it has saved itself too late") {
  CHECK(found([](const JobEntry& entry, const JobFacts& facts) {
          JobEntry unasked = entry;
          if (entry.state == JobState::running) unasked.was_asked_to_save = false;
          return next_step(unasked, facts);
        }) == "what has saved itself is taken for done");
}

TEST_CASE("the checker finds a parked job that is called done") {
  CHECK(found(but([](const JobEntry& entry, const JobFacts&, Step right) {
          const bool is_parked = comes_to(entry, right, JobState::parking, JobState::waiting);
          return is_parked ? written_as(std::move(right), JobState::done) : right;
        })) != "");
}

TEST_CASE("the checker finds an interruption that costs a retry") {
  CHECK(found(blind_in(JobState::running, [](JobFacts& facts, const JobEntry&) {
          if (!facts.was_interrupted) return;
          facts.was_interrupted = false;
          facts.status = 1;
        })) == "a retry is taken for nothing");
}

TEST_CASE("the checker finds a failed run that costs no retry") {
  CHECK(found(but([](const JobEntry& entry, const JobFacts&, Step right) {
          if (right.entry) right.entry->retries = entry.retries;
          return right;
        })) == "it fails and a retry is not counted");
}

TEST_CASE("the checker finds one retry too many") {
  CHECK(found(but([](const JobEntry& entry, const JobFacts&, Step right) {
          const bool fails = comes_to(entry, right, JobState::running, JobState::failed);
          if (!fails) return right;
          right.entry->retries = entry.retries - 1;
          return written_as(std::move(right), JobState::waiting);
        })) == "a retry is taken for nothing");
}

TEST_CASE("the checker finds memory that is doubled twice") {
  CHECK(found([](const JobEntry& entry, const JobFacts& facts) {
          JobEntry undoubled = entry;
          if (facts.was_killed_for_memory) undoubled.has_doubled = false;
          return next_step(undoubled, facts);
        }) == "its memory is doubled again, or for nothing");
}

TEST_CASE("the checker finds a job that forgets that its memory was doubled") {
  CHECK(found(but([](const JobEntry&, const JobFacts&, Step right) {
          if (right.entry && right.act == Act::start) right.entry->has_doubled = false;
          return right;
        })) == "its memory is doubled again, or for nothing");
}

TEST_CASE("the checker finds a job that starts again after a person stopped it") {
  CHECK(found(blind_in(JobState::running,
                       [](JobFacts& facts, const JobEntry&) { facts.was_stopped = false; })) != "");
}

// ---- cancelled, refused, held

TEST_CASE("the checker finds a cancelled job that is left running") {
  CHECK(found(blind_in(JobState::stopping, [](JobFacts& facts, const JobEntry&) {
          if (facts.copy == TicketCopy::running) facts.copy = TicketCopy::ended;
        })) == "a job runs that is closed");
}

TEST_CASE("the checker finds a cancelled job whose container is left") {
  CHECK(found(blind_in(JobState::stopping, [](JobFacts& facts, const JobEntry&) {
          if (facts.copy == TicketCopy::created) facts.copy = TicketCopy::absent;
        })) == "a cancelled ticket is left");
}

TEST_CASE("the checker finds a job that is tried for ever although its engine refuses it") {
  CHECK(found(but([](const JobEntry& entry, const JobFacts&, Step right) {
          if (entry.state == JobState::starting && right.entry) right.entry->is_held = false;
          return right;
        })).starts_with("no end in calm"));
}

TEST_CASE("the checker finds a job that is held and does not say why") {
  CHECK(found(but([](const JobEntry& entry, const JobFacts&, Step right) {
          if (entry.state == JobState::starting && right.entry) right.entry->note.clear();
          return right;
        })) == "it is held, and nobody says why");
}

TEST_CASE("the checker finds a job that stays in a state for ever") {
  const JobState state = GENERATE(JobState::starting, JobState::parking, JobState::stopping);
  CHECK(found(but([state](const JobEntry& entry, const JobFacts& facts, Step right) {
          const bool is_stuck = entry.state == state && facts.copy == TicketCopy::ended;
          return is_stuck ? Step() : right;
        })).starts_with("no end in calm"));
}

}  // namespace
}  // namespace flowcon::cluster::queue::model
