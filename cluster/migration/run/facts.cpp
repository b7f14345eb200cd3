// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/facts.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <charconv>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "cluster/migration/run/processes.h"

namespace flowcon::cluster::migration {
namespace {

constexpr double kHearsay = 0.5;    // seconds until an event has come that tells of a state
constexpr double kProof = 1;        // seconds that a copy has to run on, at the least
constexpr double kAskTime = 60;     // seconds of silence on the source, while the job still runs
constexpr double kSendTime = 15;    // and while it is stopped
constexpr double kReadyTime = 120;  // from the last part on until the target is ready

bool is_down(Copy copy) {
  return copy == Copy::stopped || copy == Copy::finished || copy == Copy::failed;
}

// Is its copy started on the target, and not over yet?
bool is_started(const Move& move) {
  return !move.is_source() && !move.is_of_task() &&
         (move.entry.step == Step::start || move.entry.step == Step::confirm);
}

bool is_tried(const Move& move) { return is_started(move) && move.entry.step == Step::start; }

// What the step and the way of moving make of a copy that is down.
Copy judged_by_step(const Move& move, const Seen& seen, Copy copy, bool is_stopped_by_person) {
  // A ticket may have run here before; for this move it has not.
  if (!move.is_source() && move.entry.method == Method::home) {
    return is_down(copy) ? Copy::created : copy;
  }
  // Until it has its policy back, an engine that dies ends the copy and does not start it again.
  const bool has_ended = copy == Copy::finished || copy == Copy::failed;
  if (move.entry.step == Step::confirm && has_ended &&
      restarts_after(move.plan.restart_policy, seen.exit_code)) {
    copy = Copy::stopped;
  }
  // CRIU's checkpoint serves once; the source has it as well.
  if (is_tried(move) && move.entry.method == Method::criu && copy == Copy::stopped &&
      !is_stopped_by_person) {
    copy = Copy::failed;
  }
  if (is_tried(move) && copy == Copy::finished && seen.exit_code != 0 &&
      seen.lived < move.plan.confirm) {
    copy = Copy::failed;
  }
  const bool is_clearing =
      move.entry.step == Step::remove || (!move.is_source() && move.entry.step == Step::undo);
  // Gone with all that belonged to it, or there is still something to remove.
  if (is_clearing && copy == Copy::absent && !move.copy.is_cleared) copy = Copy::created;
  return copy;
}

// What this process and the other side know, whatever the engine says.
void add_what_is_known(Facts& facts, const Move& move, double now) {
  facts.is_quiet = now >= move.quiet_from && move.arrival.taking.empty() && !move.copy.is_halting;
  facts.is_synced = move.copy.is_synced;
  facts.is_start_doubtful = move.writing.is_start_doubtful;
  facts.is_released = move.is_released || move.entry.method != Method::birth;
  facts.is_saved = move.saving.is_saved;
  facts.is_received = move.travel.is_received && move.arrival.taking.empty();
  facts.word = move.peer.word;
  facts.peer = move.peer.step;
  facts.peer_reason = move.peer.reason;
  facts.is_taken_back = move.is_taken_back;
  facts.is_kept = move.is_kept;
  facts.give_up = move.give_up;
}

}  // namespace

bool ended_by_itself(const Move& move, const Seen& seen) {
  const bool is_at = move.entry.step == Step::save || move.entry.step == Step::undo;
  if (!move.is_source() || !is_at) return false;
  const bool is_over = seen.copy == Copy::finished || seen.copy == Copy::failed;
  // What was asked by a flowcond before this one is not known.
  const bool by_itself =
      move.saving.has_ended || (!move.saving.was_asked && !move.saving.was_restored);
  return is_over && by_itself && !restarts_after(move.plan.restart_policy, seen.exit_code);
}

std::string why_too_late(const Move& move, double now, const std::optional<std::string>& started) {
  const double silence = now - std::max(move.peer.heard, move.began);
  if (!move.is_source()) {
    if (move.entry.step > Step::ready) return "";
    return why_reservation_ends(now - move.began, silence, !move.arrival.taking.empty());
  }
  const bool is_asking = move.entry.step == Step::reserve;
  const bool is_sending = move.entry.step == Step::transfer;
  const bool is_another_life =
      started && move.saving.saved_life && *started != *move.saving.saved_life;
  if (is_sending && is_another_life) return "it was started again meanwhile";
  const bool is_ready = move.peer.word == Word::step && move.peer.step == Step::ready;
  if (is_sending && !is_ready && move.travel.sent_at > 0 &&
      now - move.travel.sent_at > kReadyTime) {
    return "the target has all of it, and is not ready to start it";
  }
  if ((is_asking && silence > kAskTime) || (is_sending && silence > kSendTime)) {
    return "nothing is heard of the target: " + move.trouble;
  }
  return "";
}

Async<Result<Seen>> FactFinder::look(MovePtr move) {
  Seen none;
  none.copy = Copy::absent;
  if (!move->entry.container.empty()) {
    Result<Seen> seen = co_await world_.engine.look(move->entry.container);
    const bool is_gone = is_absent(seen);
    if (!is_gone || move->is_source()) co_return is_gone ? Result<Seen>(none) : seen;
  }
  if (move->is_source()) co_return none;
  co_return co_await world_.engine.look_made(move->entry.id);
}

Async<Facts> FactFinder::gather(MovePtr move) {
  const unsigned stream = watch_.stream();
  Result<Seen> seen = co_await look(move);
  // Who stopped it is told by the engine's events, which may come a moment later.
  if (seen && is_started(*move) && is_down(seen->copy) &&
      seen->started != move->copy.settled_life) {
    co_await world_.clock.pause(kHearsay);
    seen = co_await look(move);
  }
  const bool has_heard = stream != 0 && stream == watch_.stream();
  if (seen && seen->copy == Copy::running && has_heard) move->copy.is_watched = true;
  bool is_proven = true;
  if (seen && is_tried(*move)) {
    Seen copy = *seen;
    is_proven = co_await has_proven(move, std::move(copy));
  }
  Facts facts;
  facts.is_proven = is_proven;
  std::optional<std::string> started;
  if (!seen) {
    move->complain(seen.error());
    // An engine that stood still does afterwards what it was asked for.
    if (move->saving.was_told_to_end) move->stay_quiet(move->plan.checkpoint.timeout);
  } else {
    if (seen->copy != Copy::unknown) started = seen->started;
    facts = co_await judge_copy(move, std::move(*seen), has_heard, is_proven);
  }
  const double now = world_.clock.steady();
  if (const std::string why = why_too_late(*move, now, started); !why.empty()) {
    move->turn_back(why);
  }
  add_what_is_known(facts, *move, now);
  co_return facts;
}

Async<Facts> FactFinder::judge_copy(MovePtr move, Seen seen, bool has_heard, bool is_proven) {
  Facts facts;
  facts.is_proven = is_proven;
  move->copy.seen = seen.copy;
  facts.copy = seen.copy;
  if (is_started(*move) && is_down(seen.copy)) {
    Seen down = seen;
    facts.copy = co_await watch_.judge_end(move, std::move(down), has_heard);
  }
  facts.is_stopped_by_person =
      move->copy.was_ended_by_person && seen.started == move->copy.settled_life;
  if (move->saving.has_signal && is_down(seen.copy)) {
    move->saving.has_signal = false;
    move->quiet_from = 0;
  }
  const bool was_dumped = move->is_source() && move->entry.method == Method::criu;
  if (was_dumped && move->entry.step == Step::undo) end_dump(seen.pid, move->entry.container);
  facts.restarts = restarts(seen.restart_policy);
  facts.has_own_policy = is_same_policy(seen.restart_policy, move->plan.restart_policy);
  facts.copy = judged_by_step(*move, seen, facts.copy, facts.is_stopped_by_person);
  facts.has_ended = ended_by_itself(*move, seen);
  if (facts.copy == Copy::running && !move->copy.running_since) {
    move->copy.running_since = world_.clock.steady();
  }
  if (facts.copy == Copy::failed) {
    const std::string how = "status " + std::to_string(seen.exit_code) + " after " +
                            render_number(std::round(seen.lived * 10) / 10) + " s";
    std::string said = printable(seen.error, 200);
    if (said.empty()) said = co_await world_.engine.last_words(std::move(seen));
    facts.failure = how + (said.empty() ? "" : ", \"" + said + "\"");
    move->trouble = facts.failure;
  }
  co_return facts;
}

// One that prints values has to print one; of others a line says that they are past their start.
// What it printed has to be a moment old: the last words of a job that fails are lines as well.
Async<bool> FactFinder::has_proven(MovePtr move, Seen seen) {
  if (seen.copy != Copy::running) {
    move->copy.shown_at.reset();
    co_return false;
  }
  const double now = world_.clock.steady();
  if (!move->copy.running_since) move->copy.running_since = now;
  if (!move->copy.shown_at) {
    double started = 0;
    const char* end = seen.started.data() + seen.started.size();
    (void)std::from_chars(seen.started.data(), end, started);
    const std::optional<double> value = world_.host.last_value_at(seen.id);
    bool has_shown = value && started > 0 && *value >= started;
    if (!has_shown && !move->plan.awaits_value)
      has_shown = co_await world_.engine.has_printed(seen);
    if (has_shown) move->copy.shown_at = world_.clock.steady();
  }
  const double ran = now - *move->copy.running_since;
  const bool has_gone_on = move->copy.shown_at && now - *move->copy.shown_at >= kProof;
  if (ran >= kProof && (has_gone_on || ran >= move->plan.confirm)) co_return true;
  move->rest = std::min(move->rest, kProof / 4);  // it is looked at again soon
  co_return false;
}

}  // namespace flowcon::cluster::migration
