// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/mover.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>

#include "base/json.h"
#include "base/text.h"
#include "cluster/migration/plan/entry_json.h"
#include "cluster/migration/plan/json_parts.h"
#include "cluster/migration/run/mover_processes.h"
#include "cluster/migration/run/mover_state.h"
#include "ctrl/pause.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster::migration {
namespace {

namespace json = boost::json;
using ctrl::Async;

constexpr double kFirstRest = 0.2;  // seconds
constexpr double kLongestRest = 3;  // seconds; news wake it
constexpr double kHoldLook = 0.05;  // seconds
constexpr double kHearsay = 0.5;    // seconds until an event has come that tells of a state
constexpr double kAskTime = 60;     // the same on the source, while the job still runs
constexpr double kSendTime = 15;    // and while it is stopped
constexpr double kReadyTime = 120;  // from the last part on until the target is ready

bool is_down(Copy copy) {
  return copy == Copy::stopped || copy == Copy::finished || copy == Copy::failed;
}

// Of these the sentence says it already.
bool is_own_word(const Error& error) { return error.code == boost::system::errc::timed_out; }

}  // namespace

double steady_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double wall_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::unique_ptr<Mover> make_mover(ctrl::LocalHost& host, Network& network, Lives& lives) {
  return std::make_unique<Movers>(host, network, lives);
}

void Move::stay_quiet(double seconds) { quiet_from = std::max(quiet_from, steady_now() + seconds); }

Movers::Movers(ctrl::LocalHost& host, Network& network, Lives& lives)
    : host_(host),
      network_(network),
      lives_(lives),
      client_(host.io(), host.config().engine),
      engine_(client_) {}

// -------------------------------------------------------------------------------- what is next

Async<void> Movers::drive(MovePtr move) {
  while (!is_closed(move->entry) && !is_ended_) {
    const Facts facts = co_await gather(move);
    if (is_ended_) co_return;
    Effect effect = move->is_fresh ? recover(move->entry, facts) : next_effect(move->entry, facts);
    if (facts.copy != Copy::unknown && move->entry.step > Step::transfer) move->is_fresh = false;
    const Step before = move->entry.step;
    if (!co_await write_down(move, effect)) {
      co_await rest(move);
      continue;
    }
    const bool was_given_up = !move->give_up.empty();
    co_await hold(move);
    if (is_ended_) co_return;
    if (!was_given_up && !move->give_up.empty()) continue;
    const bool is_done = co_await carry_out(move, std::move(effect));
    if (is_done || move->entry.step != before) {
      move->rest = 0;
    } else {
      co_await rest(move);
    }
  }
  if (!is_ended_) close(move);
}

Async<void> Movers::rest(MovePtr move) {
  if (!move->is_woken) {
    move->rest = std::clamp(move->rest * 2, kFirstRest, kLongestRest);
    move->timer.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        std::chrono::duration<double>(move->rest)));
    (void)co_await move->timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  }
  if (move->is_woken) move->rest = 0;
  move->is_woken = false;
}

void Movers::wake(Move& move) {
  move.is_woken = true;
  move.timer.cancel();
}

// For tests: waits at a step that is written and not yet acted on.
Async<void> Movers::hold(MovePtr move) {
  const std::string& wanted = host_.config().move_hold;
  if (wanted.empty() || move->held == move->entry.step) co_return;
  move->held = move->entry.step;
  const std::string here = std::string(name(move->entry.side)) + "." + name(move->entry.step) + ":";
  if (!wanted.starts_with(here)) co_return;
  const double until = steady_now() + std::atof(wanted.c_str() + here.size());
  while (steady_now() < until && !is_stopping_) co_await ctrl::pause(kHoldLook);
}

// The source tells: the job was its own.
void Movers::tell_end(const Move& move) {
  if (!move.is_source()) return;
  const bool is_there = move.entry.step == Step::done;
  ctrl::Event event;
  event.kind = is_there ? ctrl::EventKind::migrated : ctrl::EventKind::failure;
  event.container = move.entry.name;
  event.id = move.entry.container;
  event.sentence = is_there ? "it runs on " + move.account.peer_name
                            : "its move to " + move.account.peer_name + " was undone: " +
                                  (move.entry.reason.empty() ? move.trouble : move.entry.reason);
  host_.tell(std::move(event));
}

void Movers::close(const MovePtr& move) {
  tell_end(*move);
  json::object past = describe_move(*move, move->written, network_.own_name());
  past["ended_wall"] = wall_now();
  past_.insert(past_.begin(), std::move(past));
  if (past_.size() > kKeptMoves) past_.resize(kKeptMoves);
  moves_.erase(move->entry.id);
  sweep_timer_.cancel();  // which sweeps
  network_.tell();
}

void Movers::complain(Move& move, const Error& error) {
  move.trouble = is_own_word(error) ? error.what : error.message();
  if (!move.troubles.count()) return;
  ctrl::log::event(ctrl::log::Event::move_trouble,
                   "move " + move.entry.id.substr(0, 8) + " of container " +
                       printable(move.entry.name, 80) + ": " + printable(move.trouble, 400),
                   move.entry.container);
}

// What the other side says of itself, at any time.
void Movers::hear(Move& move, const std::string& text) {
  const Result<Entry> theirs = parse_entry(text);
  if (!theirs || !is_other_side(move.entry, *theirs)) return;
  move.heard = steady_now();
  const bool is_news = move.word != Word::step || move.peer != theirs->step;
  move.word = Word::step;
  move.peer = theirs->step;
  if (theirs->step == Step::undo && move.trouble.empty()) move.trouble = theirs->reason;
  if (is_news) wake(move);
}

// Source: how long the copy runs already, whoever asked whom; each side by its own clock.
void Movers::hear_running(Move& move, const json::value& said) {
  const json::value& running = member(said, "running_for");
  if (!running.is_number() || !move.stopped_at || move.account.stopped_seconds) return;
  move.account.stopped_seconds =
      steady_now() - *move.stopped_at - std::max(0.0, running.to_number<double>());
}

// -------------------------------------------------------------------------------- facts

Async<Result<Seen>> Movers::look(MovePtr move) {
  Seen none;
  none.copy = Copy::absent;
  if (!move->entry.container.empty()) {
    std::string id = move->entry.container;
    Result<Seen> seen = co_await engine_.look(std::move(id));
    const bool is_gone =
        !seen && seen.error().code == boost::system::errc::no_such_file_or_directory;
    if (!is_gone || move->is_source()) co_return is_gone ? Result<Seen>(none) : seen;
  }
  if (move->is_source()) co_return none;
  std::string made_for = move->entry.id;
  co_return co_await engine_.look_made(std::move(made_for));
}

Async<Facts> Movers::gather(MovePtr move) {
  Facts facts;
  const unsigned stream = stream_;
  Result<Seen> seen = co_await look(move);
  const bool is_started =
      !move->is_source() && (move->entry.step == Step::start || move->entry.step == Step::confirm);
  // Who stopped it is told by the engine's events, which may come a moment later.
  if (seen && is_started && is_down(seen->copy) && seen->started != move->settled_life) {
    co_await ctrl::pause(kHearsay);
    seen = co_await look(move);
  }
  const bool has_heard = stream != 0 && stream == stream_;
  if (seen && seen->copy == Copy::running && has_heard) move->is_watched = true;
  const bool is_tried = seen && !move->is_source() && move->entry.step == Step::start;
  if (is_tried) {
    Seen copy = *seen;
    facts.is_proven = co_await has_proven(move, std::move(copy));
  }
  if (!seen) {
    complain(*move, seen.error());
    // An engine that stood still does afterwards what it was asked for.
    if (move->was_told_to_end) move->stay_quiet(move->plan.checkpoint.timeout);
  } else {
    move->seen = seen->copy;
    facts.copy = seen->copy;
    if (is_started && is_down(seen->copy)) {
      Seen down = *seen;
      facts.copy = co_await judge_end(move, std::move(down), has_heard);
    }
    facts.is_stopped_by_person = move->was_ended_by_person && seen->started == move->settled_life;
    if (move->has_signal && is_down(seen->copy)) {
      move->has_signal = false;
      move->quiet_from = 0;
    }
    const bool was_dumped = move->is_source() && move->entry.method == Method::criu;
    if (was_dumped && move->entry.step == Step::undo) end_dump(seen->pid, move->entry.container);
    facts.restarts = restarts(seen->restart_policy);
    facts.has_own_policy = is_same_policy(seen->restart_policy, move->plan.restart_policy);
    // Until it has its policy back, an engine that dies ends the copy and does not start it again.
    const bool has_ended = facts.copy == Copy::finished || facts.copy == Copy::failed;
    if (move->entry.step == Step::confirm && has_ended &&
        restarts_after(move->plan.restart_policy, seen->exit_code)) {
      facts.copy = Copy::stopped;
    }
    // CRIU's checkpoint serves once; the source has it as well.
    if (is_tried && move->entry.method == Method::criu && facts.copy == Copy::stopped &&
        !facts.is_stopped_by_person) {
      facts.copy = Copy::failed;
    }
    if (is_tried && facts.copy == Copy::finished && seen->exit_code != 0 &&
        seen->lived < move->plan.confirm) {
      facts.copy = Copy::failed;
    }
    facts.has_ended = ended_by_itself(*move, *seen);
    const bool is_clearing =
        move->entry.step == Step::remove || (!move->is_source() && move->entry.step == Step::undo);
    // Gone with all that belonged to it, or there is still something to remove.
    if (is_clearing && facts.copy == Copy::absent && !move->is_cleared) facts.copy = Copy::created;
    if (facts.copy == Copy::running && !move->running_since) move->running_since = steady_now();
    if (facts.copy == Copy::failed) {
      move->trouble = "it ended with status " + std::to_string(seen->exit_code) + " " +
                      render_number(seen->lived) + " s after its start" +
                      (seen->error.empty() ? "" : ": " + printable(seen->error, 200));
    }
  }
  const double now = steady_now();
  facts.is_quiet = now >= move->quiet_from && move->taking.empty() && !move->is_halting;
  facts.is_synced = move->is_synced;
  facts.is_start_doubtful = move->is_start_doubtful;
  facts.is_saved = move->is_saved;
  facts.is_received = move->is_received && move->taking.empty();
  facts.word = move->word;
  facts.peer = move->peer;
  facts.is_taken_back = move->is_taken_back;
  facts.is_kept = move->is_kept;
  const bool is_reserved = !move->is_source() && move->entry.step <= Step::ready;
  if (is_reserved && move->give_up.empty()) {
    const double quiet = now - std::max(move->heard, move->began);
    move->give_up = why_reservation_ends(now - move->began, quiet, !move->taking.empty());
  }
  const bool is_asking = move->is_source() && move->entry.step == Step::reserve;
  const bool is_sending = move->is_source() && move->entry.step == Step::transfer;
  const bool is_another_life = seen && seen->copy != Copy::unknown && !move->saved_life.empty() &&
                               seen->started != move->saved_life;
  if (is_sending && is_another_life && move->give_up.empty()) {
    move->give_up = "it was started again meanwhile";
  }
  if (is_sending && move->sent_at > 0 && now - move->sent_at > kReadyTime &&
      move->give_up.empty()) {
    move->give_up = "the target has all of it, and is not ready to start it";
  }
  const double silence = now - std::max(move->heard, move->began);
  if ((is_asking && silence > kAskTime) || (is_sending && silence > kSendTime)) {
    if (move->give_up.empty()) move->give_up = "nothing is heard of the target: " + move->trouble;
  }
  facts.give_up = move->give_up;
  co_return facts;
}

// -------------------------------------------------------------------------------- who asks

bool Movers::is_movable(const std::string& id) const {
  const std::optional<ctrl::Settings> settings = host_.settings_of(id);
  return settings &&
         (settings->migrate == ctrl::Migrate::app || settings->migrate == ctrl::Migrate::criu);
}

bool Movers::is_moving(const std::string& id) const {
  return std::any_of(moves_.begin(), moves_.end(),
                     [&](const auto& one) { return one.second->entry.container == id; });
}

bool Movers::is_saving(const std::string& id) const {
  return std::any_of(moves_.begin(), moves_.end(), [&](const auto& one) {
    const Move& move = *one.second;
    const Step step = move.entry.step;
    // On the way back, too, it may save and end yet.
    const bool has_been_asked = (step >= Step::save && step <= Step::remove) ||
                                (step == Step::undo && move.entry.has_saved);
    return move.is_source() && move.entry.container == id && has_been_asked;
  });
}

MovePtr Movers::find_by_container(const std::string& name) const {
  for (const auto& [id, move] : moves_) {
    const bool is_id =
        name.size() >= 8 && (move->entry.container.starts_with(name) || id.starts_with(name));
    if (move->entry.name == name || is_id) return move;
  }
  return nullptr;
}

std::int64_t Movers::reserved() const {
  return std::count_if(moves_.begin(), moves_.end(), [](const auto& one) {
    return !one.second->is_source() && one.second->entry.step <= Step::start;
  });
}

Result<std::vector<std::string>> Movers::open_with(const std::string& id) const {
  if (const std::string why = why_unread(); !why.empty()) return bad_input(why);
  std::vector<std::string> names;
  for (const auto& [key, move] : moves_) {
    if (move->other() == id) names.push_back(move->entry.name);
  }
  return names;
}

std::string Movers::peer_name(const std::string& id) const {
  for (const Neighbour& one : network_.neighbours()) {
    if (one.id == id) return one.name;
  }
  return id.substr(0, 12);
}

json::array Movers::list(std::size_t most) const {
  json::array all;
  for (const auto& [id, move] : moves_) {
    if (all.size() >= most) break;
    all.push_back(describe_move(*move, move->written, network_.own_name()));
  }
  for (json::object past : past_) {
    if (all.size() >= most) break;
    const json::value ended = past["ended_wall"];
    past.erase("ended_wall");
    past["ended_age"] = ended.is_number() ? wall_now() - ended.to_number<double>() : 0;
    all.push_back(std::move(past));
  }
  return all;
}

json::object describe_move(const Move& move, const Entry& entry, const std::string& here_name) {
  const double now = steady_now();
  const std::uint64_t bytes = move.account.bytes + (move.passing ? move.passing->bytes() : 0);
  const double sending =
      move.account.sending_seconds + (move.sending_since ? now - *move.sending_since : 0);
  json::object out;
  out["id"] = entry.id;
  out["container"] = entry.container;
  out["name"] = entry.name;
  out["side"] = name(entry.side);
  out["source"] = entry.source;
  out["target"] = entry.target;
  out["source_name"] = move.is_source() ? here_name : move.account.peer_name;
  out["target_name"] = move.is_source() ? move.account.peer_name : here_name;
  out["method"] = name(entry.method);
  out["cause"] = cluster::name(move.plan.cause);
  out["step"] = name(entry.step);
  out["error"] = entry.reason.empty() ? printable(move.trouble, 500) : entry.reason;
  out["bytes"] = bytes;
  out["bytes_total"] = move.plan.bytes > 0 ? json::value(move.plan.bytes) : json::value(nullptr);
  out["rate"] = sending > 0 ? static_cast<double>(bytes) / sending : 0;
  out["seconds"] = now - move.began;
  json::object steps;
  for (const auto& [step, at] : move.account.steps) steps[step] = at;
  out["steps"] = std::move(steps);
  out["stopped_seconds"] = number_or_null(move.account.stopped_seconds);
  out["ended"] = is_closed(entry);
  return out;
}

}  // namespace flowcon::cluster::migration
