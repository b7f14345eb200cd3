// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/journal.h"

#include <array>
#include <utility>

#include "cluster/migration/plan/refusals.h"

namespace flowcon::cluster::migration {
namespace {

constexpr std::array<const char*, 10> kSteps{"reserve", "save",   "transfer", "ready", "start",
                                             "confirm", "remove", "done",     "undo",  "undone"};

// The rules for one entry and one set of facts.
class Rules {
 public:
  Rules(const Entry& entry, const Facts& facts) : entry_(entry), facts_(facts) {}

  [[nodiscard]] Effect source() const;
  [[nodiscard]] Effect target() const;

 private:
  // Stays at its step.
  [[nodiscard]] Effect stay(Act act, std::string reason) const {
    return {act, entry_.step, entry_.has_saved, false, std::move(reason)};
  }

  [[nodiscard]] bool peer_is(Step step) const {
    return facts_.word == Word::step && facts_.peer == step;
  }
  [[nodiscard]] static std::string with_cause(const char* what, const std::string& cause) {
    return cause.empty() ? what : what + (": " + cause);
  }
  [[nodiscard]] bool peer_undoes() const { return peer_is(Step::undo) || peer_is(Step::undone); }
  [[nodiscard]] bool has_ended() const {
    return facts_.has_ended && (facts_.copy == Copy::finished || facts_.copy == Copy::failed);
  }
  [[nodiscard]] bool is_birth() const { return entry_.method == Method::birth; }
  [[nodiscard]] bool is_return() const { return entry_.method == Method::home; }
  // Only ever true of a target after its source has handed over.
  [[nodiscard]] bool peer_may_run() const { return peer_is(Step::start) || peer_is(Step::confirm); }

  // Moves on to `step`: its first act is what its own rule says, so that a crash between the two
  // changes nothing.
  [[nodiscard]] Effect go(Step step, std::string reason = {}) const {
    Entry next = entry_;
    next.step = step;
    next.has_saved = entry_.has_saved || step == Step::save;
    Effect effect = next_effect(next, facts_);
    // One entry a write: where the next rule would move on at once, it does so when it is asked.
    if (effect.step != step) effect = {Act::wait, step, next.has_saved, false, {}};
    effect.has_saved = next.has_saved;
    if (!reason.empty()) effect.reason = std::move(reason);
    return effect;
  }
  [[nodiscard]] Effect undo(std::string reason) const {
    Effect effect = go(Step::undo, std::move(reason));
    // A full disk must not keep the job down. recover() undoes all of these steps as well.
    // Not where it could find `start` after a crash, and hand over what runs here.
    effect.may_run_unwritten = entry_.side == Side::source && entry_.step <= Step::transfer &&
                               effect.act == Act::start && !facts_.is_start_doubtful;
    return effect;
  }

  // Why the source must turn back before the hand-over; empty where it need not.
  [[nodiscard]] std::string source_obstacle() const;
  // Why the target must turn back before it starts anything.
  [[nodiscard]] std::string target_obstacle() const;

  [[nodiscard]] Effect source_reserve() const;
  [[nodiscard]] Effect source_save() const;
  [[nodiscard]] Effect source_transfer() const;
  [[nodiscard]] Effect hand_over() const;
  [[nodiscard]] Effect source_start() const;
  [[nodiscard]] Effect source_undo() const;
  [[nodiscard]] Effect target_reserve() const;
  [[nodiscard]] Effect target_start() const;
  [[nodiscard]] Effect target_birth() const;
  [[nodiscard]] Effect target_return() const;
  [[nodiscard]] Effect target_confirm() const;
  [[nodiscard]] Effect remove_and(Step closed) const;

  const Entry& entry_;
  const Facts& facts_;
};

std::string Rules::source_obstacle() const {
  if (peer_undoes()) return with_cause("the target turned it down", facts_.peer_reason);
  return facts_.give_up;
}

Effect Rules::source_reserve() const {
  if (const std::string why = source_obstacle(); !why.empty()) return undo(why);
  if (facts_.copy == Copy::unknown) return stay(Act::wait, "the engine does not answer");
  if (is_birth() || is_return()) {
    if (facts_.copy == Copy::running) return undo("it was started meanwhile");
    if (facts_.copy == Copy::absent) return undo("it was removed meanwhile");
    if (peer_is(Step::transfer)) return go(Step::transfer);
    return stay(Act::report, "");
  }
  if (facts_.copy != Copy::running) return undo("it does not run");
  if (peer_is(Step::transfer)) return go(Step::save);
  return stay(Act::report, "");
}

Effect Rules::source_save() const {
  if (has_ended()) {
    // While the entry still says `save`: `undo` without has_saved leaves the container as it is.
    if (!facts_.has_own_policy) return stay(Act::arm, "it ended by itself");
    if (!facts_.is_synced) return stay(Act::sync, "it ended by itself");
    return {Act::wait, Step::undo, false, false, "it ended by itself before it migrated"};
  }
  if (const std::string why = source_obstacle(); !why.empty()) return undo(why);
  switch (facts_.copy) {
    case Copy::unknown:
      return stay(Act::wait, "the engine does not answer");
    case Copy::running:
      if (facts_.restarts) return stay(Act::disarm, "the engine must not start it meanwhile");
      return stay(Act::save, "");
    case Copy::stopped:
    case Copy::finished:
    case Copy::failed:
      if (facts_.restarts) return stay(Act::disarm, "the engine must not start it meanwhile");
      if (facts_.is_saved) return go(Step::transfer);
      return undo("it stopped before it had saved");
    case Copy::absent:
    case Copy::created:
      break;
  }
  return undo("it is gone");
}

Effect Rules::source_transfer() const {
  // Only after a loss of the journal's last entry: what the target does is what counts.
  if (peer_may_run() && facts_.copy != Copy::running) return hand_over();
  if (const std::string why = source_obstacle(); !why.empty()) return undo(why);
  if (facts_.copy == Copy::unknown) return stay(Act::wait, "the engine does not answer");
  if (facts_.copy == Copy::running) return undo("it was started again meanwhile");
  if (facts_.copy == Copy::absent) return undo("it was removed meanwhile");
  if (facts_.restarts) return undo("it was given a restart policy meanwhile");
  if (peer_is(Step::ready)) return facts_.is_released ? hand_over() : stay(Act::report, "");
  return stay(Act::send, "");
}

Effect Rules::hand_over() const {
  if (!facts_.is_synced) return stay(Act::sync, "the engine must remember that it is stopped");
  return go(Step::start);
}

Effect Rules::source_start() const {
  if (peer_is(Step::undone))
    return go(Step::undo, with_cause("the target gave it back", facts_.peer_reason));
  if (facts_.is_taken_back) return go(Step::undo, "a person took it back");
  if (peer_is(Step::confirm) || peer_is(Step::done)) return go(Step::remove);
  if (facts_.copy == Copy::running) {
    return stay(Act::stop, "it was handed over to the target, which may run it");
  }
  const bool is_there = facts_.copy != Copy::absent && facts_.copy != Copy::unknown;
  if (is_there && facts_.restarts) return stay(Act::disarm, "the engine must not start it again");
  if (facts_.word == Word::knows_nothing) {
    return stay(Act::report, "the target has no record of it: check the target, then take it back");
  }
  return stay(Act::report, facts_.word == Word::none ? "the state of the target is unknown" : "");
}

Effect Rules::source_undo() const {
  if (facts_.copy == Copy::unknown) return stay(Act::wait, "the engine does not answer");
  if (entry_.has_saved && peer_is(Step::done)) return go(Step::remove);  // kept there
  if (entry_.has_saved && facts_.copy != Copy::absent) {
    if (facts_.copy != Copy::running && !has_ended()) {
      // Only after a loss of the journal's last entries: it hears `undo` and removes its copy.
      if (peer_may_run()) return stay(Act::report, "the target may still run it");
      return stay(Act::start, "it runs on here");
    }
    if (!facts_.has_own_policy) return stay(Act::arm, "");
  }
  if (!facts_.is_quiet) return stay(Act::wait, "it may still be stopping");
  const bool is_there = facts_.copy != Copy::absent;
  if (entry_.has_saved && is_there && !facts_.is_synced) return stay(Act::sync, "");
  return {Act::close, Step::undone, entry_.has_saved, false, entry_.reason};
}

Effect Rules::source() const {
  switch (entry_.step) {
    case Step::reserve:
      return source_reserve();
    case Step::save:
      return source_save();
    case Step::transfer:
      return source_transfer();
    case Step::start:
      return source_start();
    case Step::remove:
      if (is_birth()) return {Act::close, Step::done, false, false, {}};
      return remove_and(Step::done);
    case Step::undo:
      return source_undo();
    default:
      return stay(Act::wait, "");
  }
}

// The last act of either side: its copy is taken away, and then there is nothing left to do.
Effect Rules::remove_and(Step closed) const {
  if (facts_.copy == Copy::unknown) return stay(Act::wait, "the engine does not answer");
  if (facts_.copy != Copy::absent) return stay(Act::remove, entry_.reason);
  // What is under way could make something after it was found gone.
  if (!facts_.is_quiet) return stay(Act::wait, "the engine may still be at work");
  return {Act::close, closed, entry_.has_saved, false, entry_.reason};
}

std::string Rules::target_obstacle() const {
  if (peer_undoes()) return with_cause("the source keeps it", facts_.peer_reason);
  if (facts_.word == Word::knows_nothing) return "the source has no record of it";
  if (peer_is(Step::remove) || peer_is(Step::done)) return "the source ended it without this host";
  return facts_.give_up;
}

Effect Rules::target_reserve() const {
  switch (facts_.copy) {
    case Copy::unknown:
      return stay(Act::wait, "the engine does not answer");
    case Copy::absent:
      if (entry_.step == Step::reserve && !is_return()) return stay(Act::prepare, "");
      return undo("the copy was removed");
    case Copy::created:
      break;
    default:
      return undo("the copy was started before its time");
  }
  if (entry_.step == Step::reserve) return go(Step::transfer);
  if (entry_.step == Step::transfer && facts_.is_received) {
    return facts_.is_synced ? go(Step::ready) : stay(Act::sync, "");
  }
  if (entry_.step == Step::ready && peer_is(Step::start)) return go(Step::start);
  return stay(Act::report, "");
}

// Once it has run its end is the job's.
Effect Rules::target_birth() const {
  switch (facts_.copy) {
    case Copy::unknown:
      return stay(Act::wait, "the engine does not answer");
    case Copy::created:
      // A start that was asked for may come yet, and be over before the next one comes.
      if (!facts_.is_quiet) return stay(Act::wait, "the engine may still start it");
      if (!facts_.give_up.empty() && !facts_.is_kept) return undo(facts_.give_up);
      return stay(Act::start, "");
    default:
      // Of one that was removed nobody knows that it has not run.
      return go(Step::confirm);
  }
}

Effect Rules::target_return() const {
  if (facts_.copy == Copy::unknown) return stay(Act::wait, "the engine does not answer");
  if (facts_.copy == Copy::absent) return undo("it was removed meanwhile");
  return go(Step::confirm);
}

Effect Rules::target_start() const {
  if (peer_undoes()) return undo(with_cause("the source took it back", facts_.peer_reason));
  if (is_birth()) return target_birth();
  if (is_return()) return target_return();
  switch (facts_.copy) {
    case Copy::unknown:
      return stay(Act::wait, "the engine does not answer");
    case Copy::running:
      if (!facts_.is_proven && !facts_.is_kept) {
        return stay(Act::report, "it has yet to show that it runs on");
      }
      return go(Step::confirm);
    case Copy::finished:
      return go(Step::confirm);
    case Copy::created:
    case Copy::stopped:
      if (facts_.is_stopped_by_person && facts_.copy == Copy::stopped) return go(Step::confirm);
      if (!facts_.give_up.empty() && !facts_.is_kept) return undo(facts_.give_up);
      return stay(Act::start, "");
    case Copy::absent:
      return undo("the copy was removed");
    case Copy::failed:
      // Kept, it is the only one there is.
      if (facts_.is_kept) return go(Step::confirm);
      break;
  }
  return undo(with_cause("it failed before it had shown that it runs on", facts_.failure));
}

Effect Rules::target_confirm() const {
  if (peer_undoes()) return undo(with_cause("the source took it back", facts_.peer_reason));
  if (facts_.copy == Copy::unknown) return stay(Act::wait, "the engine does not answer");
  const bool is_source_through = peer_is(Step::remove) || peer_is(Step::done) ||
                                 facts_.word == Word::knows_nothing || facts_.is_kept;
  // Before it is started once more, lest a job that ends at once be started here for ever.
  if (is_source_through && facts_.copy != Copy::absent && !facts_.has_own_policy) {
    return stay(Act::arm, "");
  }
  const bool is_down = facts_.copy == Copy::stopped || facts_.copy == Copy::created;
  const bool may_start = !is_birth() && !is_return() && !facts_.is_stopped_by_person;
  if (is_down && may_start) return stay(Act::start, "");
  if (!is_source_through) return stay(Act::report, "");
  if (facts_.copy != Copy::absent && !facts_.is_synced) return stay(Act::sync, "");
  // A start that is still under way would start a job again that has ended since.
  if (!facts_.is_quiet) return stay(Act::wait, "the engine may still be at work");
  return {Act::close, Step::done, false, false, {}};
}

Effect Rules::target() const {
  switch (entry_.step) {
    case Step::reserve:
    case Step::transfer:
    case Step::ready:
      if (const std::string why = target_obstacle(); !why.empty()) return undo(why);
      return target_reserve();
    case Step::start:
      return target_start();
    case Step::confirm:
      return target_confirm();
    case Step::undo:
      if (!is_return()) return remove_and(Step::undone);
      if (!facts_.is_quiet) return stay(Act::wait, "received data is still being written");
      return {Act::close, Step::undone, false, false, entry_.reason};
    default:
      return stay(Act::wait, "");
  }
}

bool is_of(Side side, Step step) {
  switch (step) {
    case Step::save:
    case Step::remove:
      return side == Side::source;
    case Step::ready:
    case Step::confirm:
      return side == Side::target;
    default:
      return true;
  }
}

}  // namespace

const char* name(Side side) { return side == Side::source ? "source" : "target"; }

const char* name(Method method) {
  constexpr std::array<const char*, 4> kMethods{"app", "criu", "birth", "home"};
  return kMethods.at(static_cast<std::size_t>(method));
}

const char* name(Step step) { return kSteps.at(static_cast<std::size_t>(step)); }

std::optional<Step> parse_step(Side side, const std::string& word) {
  for (std::size_t i = 0; i < kSteps.size(); ++i) {
    if (word == kSteps[i] && is_of(side, static_cast<Step>(i))) return static_cast<Step>(i);
  }
  return {};
}

bool is_closed(const Entry& entry) {
  return entry.step == Step::done || entry.step == Step::undone;
}

Effect next_effect(const Entry& entry, const Facts& facts) {
  const Rules rules(entry, facts);
  return entry.side == Side::source ? rules.source() : rules.target();
}

Effect recover(const Entry& entry, const Facts& facts) {
  const bool is_handed_over = entry.side == Side::source && entry.step == Step::start;
  if (is_handed_over && facts.copy == Copy::unknown) {
    return {Act::wait, entry.step, entry.has_saved, false, "the engine does not answer"};
  }
  if (entry.step > Step::transfer) return next_effect(entry, facts);
  Facts lost = facts;
  lost.is_saved = false;
  lost.is_received = false;
  if (lost.give_up.empty()) lost.give_up = kRestarted;
  return next_effect(entry, lost);
}

std::string why_not_taken_back(const Entry& entry, Word word, bool is_heard) {
  const bool was_handed_over =
      entry.step == Step::start || (entry.step == Step::undo && word == Word::step);
  if (entry.step < Step::start) {
    return "it was not handed over; docker flowcon migrate --cancel ends the migration";
  }
  if (!was_handed_over) return "the migration is about to end by itself";
  if (!is_heard || word == Word::knows_nothing) return "";
  return "the other host is reachable, and the migration continues by itself; once that host is "
         "gone for good, so that no copy runs there, the container can be taken back";
}

std::string why_not_kept(const Entry& entry, bool is_heard) {
  if (entry.step < Step::start) {
    return "it was not handed over to this host; its reservation here ends when its source stays "
           "silent";
  }
  if (entry.step > Step::confirm) return "the migration is about to end by itself";
  if (!is_heard) return "";
  return "the other host is reachable, and the migration ends by itself; once that host is gone "
         "for "
         "good, "
         "so that no copy is started there, the container can be kept";
}

Entry written(Entry entry, const Effect& effect) {
  if (effect.step != entry.step) entry.attempt = 0;
  if (effect.step == Step::undo && entry.step != Step::undo) entry.reason = effect.reason;
  entry.step = effect.step;
  entry.has_saved = effect.has_saved;
  return entry;
}

bool may_tell(const Entry& entry, Copy seen) {
  if (is_closed(entry)) return true;
  const bool is_handed_over = entry.side == Side::source && entry.step == Step::start;
  return seen != Copy::unknown && !(is_handed_over && seen == Copy::running);
}

bool is_given_up_unwritten(const Entry& entry, const Effect& effect) {
  return entry.step <= Step::ready && effect.step <= Step::ready;
}

}  // namespace flowcon::cluster::migration
