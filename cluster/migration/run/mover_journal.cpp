// SPDX-License-Identifier: Apache-2.0
// The mover and its journal: reading it at the start, writing each step, leaving it in order at the
// end.
#include <unistd.h>

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <fstream>

#include "base/json.h"
#include "base/text.h"
#include "cluster/migration/plan/entry_json.h"
#include "cluster/migration/plan/json_parts.h"
#include "cluster/migration/run/mover_state.h"
#include "ctrl/pause.h"
#include "ctrl/service.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster::migration {
namespace {

namespace json = boost::json;
using ctrl::Async;

constexpr double kOrphanTime = 30;     // seconds in which an engine ends what a lost process asked
constexpr double kReadAgain = 1;       // seconds, twice as many each time
constexpr double kReadAgainMost = 30;  // seconds
constexpr double kSettleLook = 0.05;   // seconds
constexpr double kRestart = 15;        // seconds until a job that has saved runs again
constexpr double kStopLasts = 60;      // seconds that systemd is to wait from each word on
constexpr double kStopWord = 5;        // seconds

}  // namespace

ctrl::store::Migration Movers::row_of(const Move& move, const Entry& entry) const {
  ctrl::store::Migration row;
  row.id = entry.id;
  row.entry = render(entry);
  json::object plan = is_closed(entry) ? json::object{} : to_json(move.plan);
  plan["shown"] = describe_move(move, entry, network_.own_name());
  if (!move.settled_life.empty()) {
    plan["ended"] = {{"life", move.settled_life}, {"by_person", move.was_ended_by_person}};
  }
  row.plan = render_json(plan);
  row.started = move.started;
  if (is_closed(entry)) row.ended = wall_now();
  return row;
}

Async<Result<void>> Movers::save(MovePtr move, Entry entry) {
  auto write = [&store = host_.store(), row = row_of(*move, entry)] {
    return store.save_migration(row);
  };
  move->writing = entry.step;
  Result<void> saved = co_await host_.effects().run(std::move(write));
  move->writing.reset();
  if (saved) move->written = std::move(entry);
  co_return saved;
}

void Movers::launch(MovePtr move) {
  moves_[move->entry.id] = move;
  ctrl::spawn(host_.io(), "move " + move->entry.id.substr(0, 8), drive(move));
  if (is_watching_) return;
  is_watching_ = true;
  ctrl::spawn(host_.io(), "engine of moves", watch_engine());
}

// -------------------------------------------------------------------------------- the start

std::string Movers::why_unread() const {
  if (is_started_) return "";
  const std::string what = host_.store().is_journal_whole()
                               ? "was not read yet: try again in a moment, or "
                               : "is not whole: ";
  return "the journal of moves " + what + "see the warnings of docker flowcon status";
}

bool Movers::is_reading() const {
  return is_begun_ && !is_started_ && host_.store().is_journal_whole();
}

Async<void> Movers::start() {
  is_begun_ = true;
  if (const Result<ctrl::engine::Version> version = co_await client_.ping(); !version) {
    ctrl::log::warning("moves wait for the engine: " + version.error().message());
  }
  if (!host_.store().is_journal_whole()) {
    // is_started_ stays false: nothing begins, and peers are told that nothing can be said.
    ctrl::spawn(host_.io(), "half moved", name_half_moved());
    co_return;
  }
  if (!co_await restore()) ctrl::spawn(host_.io(), "journal of moves", restore_later());
}

Async<void> Movers::restore_later() {
  host_.warn(
      "until the journal of moves can be read and written no container is moved, and no "
      "peer is answered about moves; flowcond tries again");
  for (double wait = kReadAgain; !is_ended_; wait = std::min(2 * wait, kReadAgainMost)) {
    co_await ctrl::pause(wait);
    if (is_ended_) co_return;
    if (co_await restore()) {
      ctrl::log::info("the journal of moves was read");
      co_return;
    }
  }
}

// False where it has to be tried again. What was taken up already stays.
Async<bool> Movers::restore() {
  auto read = [&store = host_.store()] { return store.migrations(kKeptMoves); };
  Result<std::vector<ctrl::store::Migration>> rows = co_await host_.effects().run(std::move(read));
  if (!rows) {
    if (unread_.count()) ctrl::log::error(rows.error().message());
    co_return false;
  }
  bool is_done = true;
  is_whole_ = true;
  for (const ctrl::store::Migration& row : *rows) {
    if (row.ended || moves_.contains(row.id)) continue;
    ctrl::store::Migration copy = row;
    const bool is_taken_up = co_await restore_one(std::move(copy));
    is_done = is_done && is_taken_up;
  }
  if (!is_done) co_return false;
  past_.clear();
  for (const ctrl::store::Migration& row : *rows) {
    if (!row.ended) continue;
    const Result<json::value> plan = parse_json(row.plan);
    json::object past = plan ? object_of(*plan, "shown") : json::object();
    past["ended_wall"] = *row.ended;
    past_.push_back(std::move(past));
  }
  ::unlink((host_.config().state_dir + "/open-moves").c_str());
  is_started_ = true;
  ctrl::spawn(host_.io(), "images of moves", sweep_images());
  co_return true;
}

// False where it has to be tried again.
Async<bool> Movers::restore_one(ctrl::store::Migration row) {
  Result<Entry> entry = parse_entry(row.entry);
  Result<Plan> plan = parse_plan(row.plan);
  if (!entry || !plan) {
    is_whole_ = false;
    host_.warn("a move in the journal cannot be read and is left alone: " +
               (entry ? plan : Result<Plan>(entry.error())).error().message());
    co_return true;
  }
  auto move = std::make_shared<Move>(host_.io(), std::move(*entry), std::move(*plan));
  move->is_fresh = move->was_restored = true;
  move->started = row.started;
  move->began = steady_now();
  const bool was_saving = move->entry.step == Step::undo && move->entry.has_saved;
  const bool may_be_saving = move->is_source() && (move->entry.step == Step::save || was_saving);
  move->quiet_from =
      steady_now() + kOrphanTime + (may_be_saving ? move->plan.checkpoint.timeout : 0);
  const Result<json::value> parsed = parse_json(row.plan);
  const json::value shown = parsed ? json::value(object_of(*parsed, "shown")) : json::value();
  const json::value ended = parsed ? json::value(object_of(*parsed, "ended")) : json::value();
  move->settled_life = text_of(ended, "life");
  move->was_ended_by_person = is_true(ended, "by_person");
  move->account.peer_name = text_of(shown, move->is_source() ? "target_name" : "source_name");
  // What was read may be in the kernel's memory alone, where who wrote it was killed before it
  // was through. From the hand-over on it must be on the disk before anybody is told.
  if (move->entry.step >= Step::start) {
    Entry same = move->entry;
    const Result<void> saved = co_await save(move, std::move(same));
    if (!saved) {
      if (unread_.count()) ctrl::log::error(saved.error().message());
      co_return false;
    }
  }
  ctrl::log::info("move " + move->entry.id.substr(0, 8) + " of container " +
                  printable(move->entry.name, 80) + " goes on at step " + name(move->entry.step));
  launch(std::move(move));
  co_return true;
}

// -------------------------------------------------------------------------------- each step

// False where it could not be written and must not be done.
Async<bool> Movers::write_down(MovePtr move, Effect effect) {
  const bool is_new = effect.step != move->entry.step || effect.has_saved != move->entry.has_saved;
  if (!is_new && !move->is_unwritten) co_return true;
  const Entry next = migration::written(move->entry, effect);
  Entry entry = next;
  const Result<void> saved = co_await save(move, std::move(entry));
  const bool undoes_unwritten =
      effect.may_run_unwritten || (move->is_unwritten && effect.step == Step::undo);
  if (saved) {
    keep_written(*move);
  } else {
    complain(*move, saved.error());
    move->is_write_troubled = true;
    if (effect.step == Step::start) move->is_start_doubtful = true;
    if (!undoes_unwritten) {
      const bool is_over = is_given_up_unwritten(move->entry, effect);
      if (is_over && move->give_up.empty()) move->give_up = saved.error().what;
      co_return false;
    }
    move->is_unwritten = true;
  }
  move->entry = next;
  if (is_new) {
    move->is_fresh = false;
    move->account.steps[name(move->entry.step)] = steady_now() - move->began;
    ctrl::log::event(
        ctrl::log::Event::move_step,
        "move " + move->entry.id.substr(0, 8) + " of container " + printable(move->entry.name, 80) +
            ": " + name(move->entry.side) + " " + name(move->entry.step) +
            (move->entry.reason.empty() ? "" : ": " + printable(move->entry.reason, 300)),
        move->entry.container);
  }
  co_return true;
}

void Movers::keep_written(Move& move) {
  move.is_unwritten = move.is_start_doubtful = false;
  if (std::exchange(move.is_write_troubled, false)) move.trouble.clear();
}

// -------------------------------------------------------------------------------- the end

bool Movers::is_on_its_way_back(const Move& move) {
  const Step step = move.entry.step;
  return move.is_source() && (step <= Step::transfer || step == Step::undo);
}

Async<void> Movers::settle(double seconds) {
  is_stopping_ = true;
  const double until = steady_now() + seconds;
  // What is not read cannot be undone, nor named in the end.
  while (is_reading() && steady_now() < until) co_await ctrl::pause(kSettleLook);
  for (const auto& [id, move] : moves_) {
    if (!is_on_its_way_back(*move)) continue;
    if (move->give_up.empty()) move->give_up = "flowcond was stopped";
    wake(*move);
  }
  // A job that was asked to save does so in its time, and is down afterwards unless it is started.
  double longest = until;
  for (const auto& [id, move] : moves_) {
    const bool may_be_saving = is_on_its_way_back(*move) && move->entry.step >= Step::save;
    if (!may_be_saving) continue;
    longest = std::max(longest, steady_now() + move->plan.checkpoint.timeout + kRestart);
  }
  const auto is_busy = [](const auto& one) { return is_on_its_way_back(*one.second); };
  double next_word = steady_now();
  while (steady_now() < longest && std::any_of(moves_.begin(), moves_.end(), is_busy)) {
    if (steady_now() >= next_word) {
      ctrl::service::tell_stop_lasts(kStopLasts, "waiting for jobs that save themselves");
      next_word = steady_now() + kStopWord;
    }
    co_await ctrl::pause(kSettleLook);
  }
}

// What of a package is to be removed may ask without flowcond: debian/docker-flowcon.prerm.
void Movers::end() {
  is_ended_ = true;
  sweep_timer_.cancel();
  std::string names;
  if (is_reading()) names = "(the journal was not read)\n";
  const auto is_away = [](const Move& move) {
    const Step step = move.written.step;
    if (!move.is_source() || step < Step::save) return step >= Step::start && step <= Step::remove;
    const bool stays = step == Step::undo && move.seen == Copy::running;
    return !stays || steady_now() < move.quiet_from;
  };
  for (const auto& [id, move] : moves_) {
    if (is_away(*move)) names += move->written.name + "\n";
  }
  if (!names.empty()) std::ofstream(host_.config().state_dir + "/open-moves") << names;
  for (const auto& [id, move] : moves_) {
    move->timer.cancel();
    const Entry& entry = move->written;
    const std::string what = move->is_source() && is_away(*move)
                                 ? "it is stopped here until flowcond runs again"
                                 : "it goes on when flowcond runs again";
    ctrl::log::warning("move " + id.substr(0, 8) + " of container " + printable(entry.name, 80) +
                       (move->is_source() ? " to " : " from ") + move->account.peer_name +
                       " is open at step " + name(entry.step) + ": " + what);
  }
}

}  // namespace flowcon::cluster::migration
