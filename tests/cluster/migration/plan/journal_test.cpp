// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/journal.h"

#include <set>
#include <vector>

#include "tests/support/catch.h"

namespace flowcon::cluster::migration {
namespace {

Entry entry_at(Side side, Step step) {
  Entry entry;
  entry.side = side;
  entry.step = step;
  entry.has_saved = side == Side::source && step != Step::reserve;
  return entry;
}

Facts facts_of(Copy copy) {
  Facts facts;
  facts.copy = copy;
  return facts;
}

Facts facts_of(Copy copy, Step peer) {
  Facts facts = facts_of(copy);
  facts.word = Word::step;
  facts.peer = peer;
  return facts;
}

const std::vector<Step> kAllSteps{Step::reserve, Step::save,    Step::transfer, Step::ready,
                                  Step::start,   Step::confirm, Step::remove,   Step::done,
                                  Step::undo,    Step::undone};

std::vector<Entry> all_entries() {
  std::vector<Entry> entries;
  for (const Side side : {Side::source, Side::target}) {
    for (const Step step : kAllSteps) {
      if (!parse_step(side, name(step))) continue;
      Entry entry = entry_at(side, step);
      for (const bool has_saved : {false, true}) {
        entry.has_saved = has_saved;
        entries.push_back(entry);
      }
    }
  }
  return entries;
}

// Every combination that a rule could look at. Facts of which the one is the source's only and the
// other the target's go together.
std::vector<Facts> all_facts() {
  std::vector<Facts> all;
  for (unsigned copy = 0; copy < 7; ++copy) {
    for (unsigned bits = 0; bits < 512; ++bits) {
      Facts facts = facts_of(static_cast<Copy>(copy));
      facts.restarts = (bits & 1U) != 0;
      facts.has_own_policy = (bits & 2U) != 0;
      facts.is_quiet = (bits & 4U) != 0;
      facts.is_synced = (bits & 8U) != 0;
      if ((bits & 16U) != 0) facts.give_up = "time ran out";
      facts.is_saved = facts.is_received = (bits & 32U) != 0;
      facts.is_taken_back = facts.is_kept = (bits & 64U) != 0;
      facts.has_ended = facts.is_proven = (bits & 128U) != 0;
      facts.is_start_doubtful = facts.is_stopped_by_person = (bits & 256U) != 0;
      all.push_back(facts);
      facts.word = Word::knows_nothing;
      all.push_back(facts);
      facts.word = Word::step;
      for (const Step step : kAllSteps) {
        facts.peer = step;
        all.push_back(facts);
      }
    }
  }
  return all;
}

// Where a step may lead, straight from the table at the top of journal.h.
std::set<Step> ways_from(Side side, Step step) {
  const bool is_source = side == Side::source;
  switch (step) {
    case Step::reserve:
      return {is_source ? Step::save : Step::transfer, Step::undo};
    case Step::save:
      return {Step::transfer, Step::undo};
    case Step::transfer:
      return {is_source ? Step::start : Step::ready, Step::undo};
    case Step::ready:
      return {Step::start, Step::undo};
    case Step::start:
      return {is_source ? Step::remove : Step::confirm, Step::undo};
    case Step::confirm:
      return {Step::done, Step::undo};
    case Step::remove:
      return {Step::done};
    case Step::undo:
      // Kept on the target by a person while it was taken back here.
      return is_source ? std::set<Step>{Step::remove, Step::undone} : std::set<Step>{Step::undone};
    default:
      return {};
  }
}

TEST_CASE("a copy that runs is believed when it has shown that it runs on, and no sooner") {
  const Entry entry = entry_at(Side::target, Step::start);
  Facts facts = facts_of(Copy::running);
  facts.is_proven = false;
  CHECK(next_effect(entry, facts).step == Step::start);
  CHECK(next_effect(entry, facts).act == Act::report);
  facts.is_proven = true;
  CHECK(next_effect(entry, facts).step == Step::confirm);
  for (const bool is_proven : {false, true}) {
    facts.is_proven = is_proven;
    facts.copy = Copy::failed;
    CHECK(next_effect(entry, facts).step == Step::undo);
    facts.copy = Copy::finished;
    CHECK(next_effect(entry, facts).step == Step::confirm);
  }
}

TEST_CASE("a job that ended by itself gets its restart policy back and is not started again") {
  const Entry entry = entry_at(Side::source, Step::save);
  Facts facts = facts_of(Copy::finished);
  facts.give_up = "it has ended by itself";
  facts.has_ended = true;
  facts.has_own_policy = false;
  CHECK(next_effect(entry, facts).step == Step::save);
  CHECK(next_effect(entry, facts).act == Act::arm);
  facts.has_own_policy = true;
  const Entry undone = written(entry, next_effect(entry, facts));
  CHECK(undone.step == Step::undo);
  CHECK_FALSE(undone.has_saved);
  CHECK(next_effect(undone, facts).act == Act::close);
  // Where the way back was written before that was known, it holds as long as it is known.
  Entry late = entry_at(Side::source, Step::undo);
  CHECK(next_effect(late, facts).act == Act::close);
  facts.has_own_policy = false;
  CHECK(next_effect(late, facts).act == Act::arm);
  facts.has_ended = false;
  CHECK(next_effect(late, facts).act == Act::start);
  facts.has_ended = true;
  // Somebody has started it: it is to save itself again.
  facts.copy = Copy::running;
  facts.give_up.clear();
  CHECK(next_effect(entry, facts).act == Act::save);
}

TEST_CASE("whatever the facts are, a step leads only where the table says") {
  const std::vector<Facts> facts = all_facts();
  std::size_t wrong = 0;
  std::set<std::pair<Step, Step>> seen;
  for (const Entry& entry : all_entries()) {
    const std::set<Step> ways = ways_from(entry.side, entry.step);
    for (const Facts& fact : facts) {
      for (const Effect& effect : {next_effect(entry, fact), recover(entry, fact)}) {
        if (effect.step == entry.step) continue;
        if (ways.count(effect.step) == 0) ++wrong;
        if (entry.side == Side::source) seen.emplace(entry.step, effect.step);
      }
    }
  }
  CHECK(wrong == 0);
  CHECK(seen.size() == 11);
}

TEST_CASE("whatever the facts are, a host touches only what is its own to touch") {
  std::size_t wrong = 0;
  for (const Entry& entry : all_entries()) {
    const bool is_source = entry.side == Side::source;
    for (const Facts& fact : all_facts()) {
      const Effect effect = next_effect(entry, fact);
      const bool is_start_due = is_source
                                    ? effect.step == Step::undo
                                    : effect.step == Step::start || effect.step == Step::confirm;
      if (effect.act == Act::start && !is_start_due) ++wrong;
      const bool is_remove_due = effect.step == (is_source ? Step::remove : Step::undo);
      if (effect.act == Act::remove && !is_remove_due) ++wrong;
      if (effect.act == Act::save && !(is_source && effect.step == Step::save)) ++wrong;
      if (effect.may_run_unwritten && !(is_source && entry.step <= Step::transfer)) ++wrong;
      const bool needs_engine = effect.act == Act::start || effect.act == Act::save ||
                                effect.act == Act::remove || effect.act == Act::stop;
      if (fact.copy == Copy::unknown && needs_engine) ++wrong;
      if (is_closed(entry) && effect.act != Act::wait) ++wrong;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("once a step is written, the same facts give the same act") {
  std::size_t wrong = 0;
  for (const Entry& entry : all_entries()) {
    for (const Facts& fact : all_facts()) {
      const Effect effect = next_effect(entry, fact);
      if (effect.step == entry.step || effect.act == Act::wait || effect.act == Act::close)
        continue;
      const Effect again = next_effect(written(entry, effect), fact);
      if (again.act != effect.act || again.step != effect.step) ++wrong;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("after the hand-over a silent target leaves the source waiting, whatever time it is") {
  Facts facts = facts_of(Copy::stopped);
  facts.give_up = "no answer for an hour";
  const Effect effect = next_effect(entry_at(Side::source, Step::start), facts);
  CHECK(effect.act == Act::report);
  CHECK(effect.step == Step::start);
  CHECK(effect.reason == "the state of the target is unknown");
}

TEST_CASE("before the hand-over a source needs no word of the target to go on") {
  Entry entry = entry_at(Side::source, Step::transfer);
  Facts facts = facts_of(Copy::stopped);
  facts.has_own_policy = false;
  facts.give_up = "the target does not answer";
  std::vector<Act> acts;
  while (!is_closed(entry) && acts.size() < 10) {
    const Effect effect = next_effect(entry, facts);
    entry = written(entry, effect);
    acts.push_back(effect.act);
    if (effect.act == Act::start) facts.copy = Copy::running;
    if (effect.act == Act::arm) facts.has_own_policy = true;
  }
  CHECK(acts == std::vector<Act>{Act::start, Act::arm, Act::close});
  CHECK(entry.step == Step::undone);
  CHECK(entry.reason == "the target does not answer");
}

TEST_CASE("a target without a record after the hand-over is a matter for a person") {
  Facts facts = facts_of(Copy::stopped);
  facts.word = Word::knows_nothing;
  const Entry entry = entry_at(Side::source, Step::start);
  CHECK(next_effect(entry, facts).step == Step::start);
  facts.is_taken_back = true;
  const Effect effect = next_effect(entry, facts);
  CHECK(effect.act == Act::start);
  CHECK(effect.step == Step::undo);
  CHECK(effect.reason == "a person took it back");
  CHECK_FALSE(effect.may_run_unwritten);
}

TEST_CASE("a container is taken back from a target that died while it started its copy") {
  Facts facts = facts_of(Copy::stopped, Step::start);
  Entry entry = entry_at(Side::source, Step::start);
  CHECK(why_not_taken_back(entry, facts.word, false).empty());
  facts.word = Word::none;
  facts.is_taken_back = true;
  Effect effect = next_effect(entry, facts);
  CHECK(effect.act == Act::start);
  CHECK(effect.step == Step::undo);
  // It came back, told that it starts its copy, and died again.
  entry = written(entry, effect);
  facts.word = Word::step;
  effect = next_effect(entry, facts);
  CHECK(effect.act == Act::report);
  CHECK(effect.reason == "the target may still run it");
  CHECK_FALSE(why_not_taken_back(entry, facts.word, true).empty());
  CHECK(why_not_taken_back(entry, facts.word, false).empty());
  facts.word = Word::none;
  CHECK(next_effect(entry, facts).act == Act::start);
}

TEST_CASE("a container is not taken back from a target that is there") {
  const Entry handed_over = entry_at(Side::source, Step::start);
  CHECK(why_not_taken_back(handed_over, Word::step, true).find("is reachable") !=
        std::string::npos);
  CHECK_FALSE(why_not_taken_back(handed_over, Word::none, true).empty());
  // Its journal is gone: it goes on with nothing.
  CHECK(why_not_taken_back(handed_over, Word::knows_nothing, true).empty());
  for (const Step step : {Step::reserve, Step::save, Step::transfer}) {
    CHECK(why_not_taken_back(entry_at(Side::source, step), Word::step, false).find("--cancel") !=
          std::string::npos);
  }
  for (const Step step : {Step::remove, Step::done, Step::undone}) {
    CHECK_FALSE(why_not_taken_back(entry_at(Side::source, step), Word::step, false).empty());
  }
}

TEST_CASE("a person keeps the copy on the target only after the hand-over and without the source") {
  for (const Step step : {Step::start, Step::confirm}) {
    CHECK(why_not_kept(entry_at(Side::target, step), false).empty());
    CHECK(why_not_kept(entry_at(Side::target, step), true).find("ends by itself") !=
          std::string::npos);
  }
  for (const Step step : {Step::reserve, Step::transfer, Step::ready}) {
    CHECK(why_not_kept(entry_at(Side::target, step), false).find("not handed over") !=
          std::string::npos);
  }
  CHECK_FALSE(why_not_kept(entry_at(Side::target, Step::undo), false).empty());
  Facts facts;
  facts.is_kept = true;
  facts.copy = Copy::running;
  facts.has_own_policy = false;
  CHECK(next_effect(entry_at(Side::target, Step::start), facts).step == Step::confirm);
  CHECK(next_effect(entry_at(Side::target, Step::confirm), facts).act == Act::arm);
  facts.has_own_policy = true;
  CHECK(next_effect(entry_at(Side::target, Step::confirm), facts).step == Step::done);
  // Before the hand-over it changes nothing.
  facts.copy = Copy::created;
  CHECK(next_effect(entry_at(Side::target, Step::ready), facts).step == Step::ready);
}

TEST_CASE("a target whose source took the container back removes its copy") {
  for (const Step step : {Step::start, Step::confirm}) {
    const Effect effect =
        next_effect(entry_at(Side::target, step), facts_of(Copy::running, Step::undone));
    CHECK(effect.act == Act::remove);
    CHECK(effect.step == Step::undo);
    CHECK(effect.reason == "the source took it back");
  }
}

TEST_CASE("a source that gave its container up stops it where somebody started it") {
  const Effect effect =
      next_effect(entry_at(Side::source, Step::start), facts_of(Copy::running, Step::start));
  CHECK(effect.act == Act::stop);
  CHECK(effect.step == Step::start);
}

TEST_CASE("a job that ends while its move is only asked about is left alone") {
  Entry entry = entry_at(Side::source, Step::reserve);
  Effect effect = next_effect(entry, facts_of(Copy::finished, Step::transfer));
  CHECK(effect.step == Step::undo);
  CHECK(effect.reason == "it does not run");
  entry = written(entry, effect);
  effect = next_effect(entry, facts_of(Copy::finished));
  CHECK(effect.act == Act::close);
  CHECK(effect.step == Step::undone);
  CHECK(effect.reason == "it does not run");
}

TEST_CASE("a job that ends by itself when it has saved is moved like one that was stopped") {
  Facts facts = facts_of(Copy::finished, Step::transfer);
  facts.is_saved = true;
  CHECK(next_effect(entry_at(Side::source, Step::save), facts).step == Step::transfer);
  facts.is_saved = false;
  const Effect effect = next_effect(entry_at(Side::source, Step::save), facts);
  CHECK(effect.step == Step::undo);
  CHECK(effect.act == Act::start);
  CHECK(effect.may_run_unwritten);
  CHECK(effect.reason == "it stopped before it had saved");
}

TEST_CASE("a copy that fails at its start goes back, one that was told of life does not") {
  CHECK(next_effect(entry_at(Side::target, Step::start), facts_of(Copy::failed)).step ==
        Step::undo);
  CHECK(next_effect(entry_at(Side::target, Step::confirm), facts_of(Copy::failed)).act ==
        Act::report);
  CHECK(next_effect(entry_at(Side::target, Step::start), facts_of(Copy::finished)).step ==
        Step::confirm);
}

TEST_CASE("a copy that its dying engine ended before it had its policy runs again") {
  Facts facts = facts_of(Copy::stopped, Step::remove);
  facts.has_own_policy = false;
  const Entry entry = entry_at(Side::target, Step::confirm);
  CHECK(next_effect(entry, facts).act == Act::arm);
  facts.has_own_policy = true;
  CHECK(next_effect(entry, facts).act == Act::start);
  facts.copy = Copy::running;
  CHECK(next_effect(entry, facts).act == Act::close);
}

TEST_CASE("a restart of flowcond undoes what hung on it and keeps what was promised") {
  for (const Step step : {Step::reserve, Step::save, Step::transfer}) {
    Facts facts = facts_of(Copy::running, Step::ready);
    facts.is_saved = true;
    const Effect effect = recover(entry_at(Side::source, step), facts);
    CHECK(effect.step == Step::undo);
    CHECK(effect.reason == "flowcond was restarted meanwhile");
  }
  for (const Step step : {Step::reserve, Step::transfer}) {
    CHECK(recover(entry_at(Side::target, step), facts_of(Copy::created)).step == Step::undo);
  }
  CHECK(recover(entry_at(Side::target, Step::ready), facts_of(Copy::created)).act == Act::report);
  CHECK(recover(entry_at(Side::target, Step::start), facts_of(Copy::created)).act == Act::start);
  CHECK(recover(entry_at(Side::source, Step::start), facts_of(Copy::stopped)).act == Act::report);
  CHECK(recover(entry_at(Side::source, Step::remove), facts_of(Copy::stopped)).act == Act::remove);
}

TEST_CASE("a written undo keeps its first reason, and a new step counts its attempts anew") {
  Entry entry = entry_at(Side::source, Step::transfer);
  entry.attempt = 4;
  Facts facts = facts_of(Copy::stopped);
  facts.give_up = "the disk of the target is full";
  entry = written(entry, next_effect(entry, facts));
  CHECK(entry.step == Step::undo);
  CHECK(entry.attempt == 0);
  CHECK(entry.reason == "the disk of the target is full");
  entry = written(entry, next_effect(entry, facts));
  CHECK(entry.reason == "the disk of the target is full");
}

TEST_CASE("a side knows its own steps only") {
  CHECK(parse_step(Side::source, "save") == Step::save);
  CHECK_FALSE(parse_step(Side::target, "save"));
  CHECK(parse_step(Side::target, "confirm") == Step::confirm);
  CHECK_FALSE(parse_step(Side::source, "ready"));
  CHECK_FALSE(parse_step(Side::source, ""));
  CHECK_FALSE(parse_step(Side::source, "Start"));
}

}  // namespace
}  // namespace flowcon::cluster::migration
