// SPDX-License-Identifier: Apache-2.0
#include "tests/cluster/migration/plan/explorer.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::migration::model {
namespace {

// Faults in one world, where all kinds of them are tried: enough for each finding below.
constexpr unsigned kFew = 2;

std::string told(const Report& report) {
  std::string text = std::to_string(report.states) + " states, " +
                     std::to_string(report.transitions) + " transitions, " +
                     std::to_string(report.calm_states) + " ways to calm, the longest " +
                     std::to_string(report.longest_calm) + " rounds\n" + report.finding.what;
  for (const std::string& line : report.finding.path) text += "\n  " + line;
  return text;
}

// What the checker says of rules that are wrong in one place.
std::string found(const Rule& next, const Rule& recovered = recover) {
  return Explorer(next, recovered, kFew).run().finding.what;
}

// And of hosts that do not keep what the rules take for granted.
std::string found(const Habits& habits) {
  return Explorer(next_effect, recover, kFew, habits).run().finding.what;
}

// next_effect() but for one change, which gets the right answer to change.
template <class Change>
Rule but(Change change) {
  return [change](const Entry& entry, const Facts& facts) {
    return change(entry, facts, next_effect(entry, facts));
  };
}

Effect to(Step step, const Entry& entry, Act act = Act::wait) {
  return {act, step, entry.has_saved, false, {}};
}

bool says(const Facts& facts, Step step) { return facts.word == Word::step && facts.peer == step; }

bool is_at(const Entry& entry, Side side, Step step) {
  return entry.side == side && entry.step == step;
}

TEST_CASE("whatever two faults of any kind do, one copy runs, and in calm nothing is left behind") {
  const Report report = Explorer(next_effect, recover, kFew).run();
  INFO(told(report));
  CHECK(report.finding.what.empty());
  // All there are. Another figure means that the rules or the model have changed.
  CHECK(report.states == 72512);
}

TEST_CASE("a person takes the container back wherever the target is lost for good") {
  Explorer explorer(next_effect, recover, 1);
  (void)explorer.run();
  const Finding finding = explorer.lose_target();
  INFO(told({0, 0, 0, 0, finding}));
  CHECK(finding.what.empty());
  // What it said before it was lost would keep the source waiting.
  CHECK(explorer.lose_target({Word::step, Step::start}).what == "the source's journal is open");
}

TEST_CASE("a person keeps the copy on the target wherever the source is lost for good") {
  Explorer explorer(next_effect, recover, kFew);
  (void)explorer.run();
  for (const Finding& finding : {explorer.lose_source(), explorer.two_persons()}) {
    INFO(told({0, 0, 0, 0, finding}));
    CHECK(finding.what.empty());
  }
}

// What the checker says of a person who keeps the copy, under rules that are wrong in one place.
std::pair<std::string, std::string> kept_under(const Rule& next) {
  Explorer explorer(next_effect, recover, 1);
  (void)explorer.run();
  const auto recovered = [next](const Entry& entry, const Facts& facts) {
    return entry.step > Step::transfer ? next(entry, facts) : recover(entry, facts);
  };
  explorer.change(next, recovered);
  return {explorer.lose_source().what, explorer.two_persons().what};
}

TEST_CASE("the checker finds a target that waits for its source although a person keeps the copy") {
  const auto [alone, both] =
      kept_under(but([](const Entry& entry, const Facts& facts, const Effect&) {
        Facts unkept = facts;
        unkept.is_kept = false;
        if (entry.step == Step::start) unkept.give_up.clear();
        return next_effect(entry, unkept);
      }));
  CHECK(alone == "the target's journal is open");
}

TEST_CASE("the checker finds a target that gives up a copy that a person keeps") {
  const auto [alone, both] =
      kept_under(but([](const Entry& entry, const Facts& facts, const Effect&) {
        Facts unkept = facts;
        if (entry.step == Step::start) unkept.is_kept = false;
        return next_effect(entry, unkept);
      }));
  CHECK(alone == "the target's journal is open");
}

TEST_CASE("the checker finds a kept copy that does not get its restart policy back") {
  const auto [alone, both] =
      kept_under(but([](const Entry& entry, const Facts& facts, const Effect& right) {
        const bool arms = is_at(entry, Side::target, Step::confirm) && right.act == Act::arm;
        return arms && facts.is_kept ? to(Step::done, entry) : right;
      }));
  CHECK(alone == "the target does not run it as before");
}

TEST_CASE("the checker finds a source that goes on with what was kept on the target") {
  const auto [alone, both] =
      kept_under(but([](const Entry& entry, const Facts& facts, const Effect& right) {
        if (!is_at(entry, Side::source, Step::undo) || !says(facts, Step::done)) return right;
        Facts deaf = facts;
        deaf.word = Word::none;
        return next_effect(entry, deaf);
      }));
  CHECK(alone.empty());
  CHECK(both == "not one copy is left");
}

TEST_CASE("a move that nothing hinders ends on the target") {
  const World end = Explorer(next_effect, recover).end_without_fault();
  CHECK(end.source.at() == Step::done);
  CHECK(end.source.copy == Copy::absent);
  CHECK(end.target.at() == Step::done);
  CHECK(end.target.is_running());
}

TEST_CASE("without a fault a move needs no way back but giving up") {
  const Report report = Explorer(next_effect, recover, 0).run();
  INFO(told(report));
  CHECK(report.finding.what.empty());
  CHECK(report.states == 660);
}

TEST_CASE("the checker finds a source that starts again when time is out after the hand-over") {
  CHECK(found(but([](const Entry& entry, const Facts& facts, const Effect& right) {
          const bool is_waiting = is_at(entry, Side::source, Step::start);
          return is_waiting && !facts.give_up.empty() ? to(Step::undo, entry) : right;
        })) == "two copies run");
}

TEST_CASE("the checker finds a target that starts before it is told") {
  CHECK(found(but([](const Entry& entry, const Facts&, const Effect& right) {
          const bool is_ready = is_at(entry, Side::target, Step::ready);
          return is_ready && right.step == Step::ready ? to(Step::start, entry) : right;
        })) == "two copies run");
}

TEST_CASE("the checker finds a source that takes 'is giving it back' for 'gave it back'") {
  CHECK(found(but([](const Entry& entry, const Facts& facts, const Effect& right) {
          const bool is_waiting = is_at(entry, Side::source, Step::start);
          return is_waiting && says(facts, Step::undo) ? to(Step::undo, entry) : right;
        })) == "two copies run");
}

TEST_CASE("the checker finds a source that removes its container before the confirmation") {
  CHECK(found(but([](const Entry& entry, const Facts& facts, const Effect& right) {
          const bool is_waiting = is_at(entry, Side::source, Step::start);
          return is_waiting && says(facts, Step::start) ? to(Step::remove, entry) : right;
        })) == "the source's copy went too early");
}

TEST_CASE("the checker finds a source that hands over with its restart policy in force") {
  CHECK(found(but([](const Entry& entry, const Facts& facts, const Effect& right) {
          if (entry.side != Side::source || entry.step > Step::transfer) return right;
          Facts blind = facts;
          blind.restarts = false;
          return next_effect(entry, blind);
        })) == "two copies run");
}

TEST_CASE("the checker finds a source that hands over before the data are there") {
  CHECK(found(but([](const Entry& entry, const Facts& facts, const Effect& right) {
          const bool sends = is_at(entry, Side::source, Step::transfer) && right.act == Act::send;
          return sends && says(facts, Step::transfer) ? to(Step::start, entry) : right;
        })) == "the source's journal is open");
}

TEST_CASE("the checker finds a side that calls itself through while its engine is at work") {
  const Rule hasty = but([](const Entry& entry, const Facts& facts, const Effect&) {
    Facts quiet = facts;
    quiet.is_quiet = true;
    return next_effect(entry, quiet);
  });
  const Rule recovered = [hasty](const Entry& entry, const Facts& facts) {
    return entry.step > Step::transfer ? hasty(entry, facts) : recover(entry, facts);
  };
  CHECK(found(hasty, recovered) != "");
}

TEST_CASE("the checker finds a target that gives back what has run and been confirmed") {
  CHECK(found(but([](const Entry& entry, const Facts& facts, const Effect& right) {
          const bool has_run = is_at(entry, Side::target, Step::confirm);
          return has_run && !facts.give_up.empty() ? to(Step::undo, entry) : right;
        })) != "");
}

TEST_CASE("the checker finds a source that forgets its hand-over in a crash") {
  const Rule forgetful = [](const Entry& entry, const Facts& facts) {
    if (is_at(entry, Side::source, Step::start)) return to(Step::undo, entry);
    return recover(entry, facts);
  };
  CHECK(found(next_effect, forgetful) == "the target runs what was not handed over");
}

TEST_CASE("the checker finds a target that believes its copy before that has shown that it runs") {
  CHECK(found(but([](const Entry& entry, const Facts& facts, const Effect&) {
          Facts rash = facts;
          rash.is_proven = true;
          return next_effect(entry, rash);
        })) == "done, and the target does not run it");
}

TEST_CASE("the checker finds a source that starts a job again that has ended") {
  CHECK(found(but([](const Entry& entry, const Facts& facts, const Effect&) {
          Facts blind = facts;
          blind.has_ended = false;
          return next_effect(entry, blind);
        })) == "a job that has ended is started again");
}

TEST_CASE("the checker finds a source that leaves an ended job without its restart policy") {
  CHECK(found(but([](const Entry& entry, const Facts& facts, const Effect&) {
          Facts content = facts;
          content.has_own_policy = content.has_own_policy || facts.has_ended;
          return next_effect(entry, content);
        })) == "undone, and the source does not run it as before");
}

TEST_CASE("the checker finds a source whose undo forgets the restart policy") {
  CHECK(found(but([](const Entry& entry, const Facts& facts, const Effect& right) {
          if (!is_at(entry, Side::source, Step::undo) || right.act != Act::arm) return right;
          Facts content = facts;
          content.has_own_policy = true;
          return next_effect(entry, content);
        })) == "undone, and the source does not run it as before");
}

TEST_CASE("the checker finds a target that leaves its reservation behind") {
  CHECK(found(but([](const Entry& entry, const Facts&, const Effect& right) {
          const bool undoes = is_at(entry, Side::target, Step::undo);
          return undoes && right.act == Act::remove ? to(Step::undone, entry) : right;
        })) == "the target kept a copy");
}

TEST_CASE("the checker finds a target that does not ask about its reservation") {
  CHECK(found(but([](const Entry& entry, const Facts& facts, const Effect& right) {
          if (entry.side != Side::target || entry.step > Step::ready) return right;
          const bool is_undone = says(facts, Step::undo) || says(facts, Step::undone);
          return is_undone ? to(entry.step, entry) : right;
        })) == "the target's journal is open");
}

TEST_CASE("the checker finds a step that is told while it is being written") {
  Habits habits;
  habits.says_unwritten = true;
  CHECK(found(habits) == "the target runs what was not handed over");
}

TEST_CASE("the checker finds a failed write that is taken for one that went well") {
  Habits habits;
  habits.trusts_failed_writes = true;
  CHECK(found(habits) == "undone, and the source does not run it as before");
}

TEST_CASE("the checker finds a host that tells its step before it has looked at its copy") {
  Habits habits;
  habits.says_unseen = true;
  CHECK(found(habits) == "the source hands over what runs");
}

TEST_CASE("the checker finds a source that lost its journal and says that it knows nothing") {
  Habits habits;
  habits.forgets_silently = true;
  CHECK(Explorer(next_effect, recover, 3, habits).run().finding.what ==
        "two run, and nobody says so");
}

TEST_CASE("the checker finds a hand-over that the source's engine could forget") {
  CHECK(found(but([](const Entry& entry, const Facts& facts, const Effect& right) {
          if (!is_at(entry, Side::source, Step::transfer) || right.act != Act::sync) return right;
          Facts content = facts;
          content.is_synced = true;
          return next_effect(entry, content);
        })) == "two copies run");
}

TEST_CASE("the checker finds an ended job whose restart policy the source's engine could forget") {
  CHECK(found(but([](const Entry& entry, const Facts& facts, const Effect& right) {
          if (!is_at(entry, Side::source, Step::save) || right.act != Act::sync) return right;
          Facts content = facts;
          content.is_synced = true;
          return next_effect(entry, content);
        })) == "undone, and the source does not run it as before");
}

TEST_CASE("the checker finds a source that starts again unwritten after it tried to hand over") {
  const Rule sure = but([](const Entry& entry, const Facts& facts, const Effect&) {
    Facts content = facts;
    content.is_start_doubtful = false;
    return next_effect(entry, content);
  });
  // Two writes fail, the first of them is on the disk, and flowcond is killed: three faults.
  Habits habits;
  habits.is_alone = true;
  CHECK(Explorer(sure, recover, 3, habits).run().finding.what == "two copies run");
  CHECK(Explorer(next_effect, recover, 3, habits).run().finding.what.empty());
}

TEST_CASE("the checker finds a target that starts again what a person stopped") {
  CHECK(found(but([](const Entry& entry, const Facts& facts, const Effect&) {
          Facts blind = facts;
          blind.is_stopped_by_person = false;
          return next_effect(entry, blind);
        })) == "what a person stopped is started");
}

TEST_CASE("the checker finds a target that keeps its copy after a person took the container back") {
  CHECK(found(but([](const Entry& entry, const Facts& facts, const Effect& right) {
          const bool is_away = entry.side == Side::target && entry.step >= Step::start;
          const bool undoes = says(facts, Step::undo) || says(facts, Step::undone);
          return is_away && undoes && right.step == Step::undo ? to(entry.step, entry) : right;
        })) == "the target's journal is open");
}

TEST_CASE("the checker finds a source that lets run what a person started after the hand-over") {
  CHECK(found(but([](const Entry& entry, const Facts& facts, const Effect& right) {
          const bool lets = is_at(entry, Side::source, Step::start) && right.act == Act::stop;
          return lets && facts.word != Word::none ? to(Step::undo, entry) : right;
        })) != "");
}

}  // namespace
}  // namespace flowcon::cluster::migration::model
