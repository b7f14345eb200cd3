// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/records.h"

#include <boost/asio/awaitable.hpp>
#include <utility>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/migration/plan/entry_json.h"
#include "cluster/migration/run/view_json.h"

namespace flowcon::cluster::migration {
namespace {

constexpr double kOrphanTime = 30;  // seconds in which an engine ends what a lost process asked
constexpr std::size_t kMostRead = 10'000;  // moves that have ended, to know where they led

// May the process before have asked its engine for something that is still to come? Not of a job's
// task where it was only sent, or comes home into its ticket.
bool may_act_yet(const Move& move) {
  if (!move.is_of_task()) return true;
  if (move.is_source()) return move.entry.step > Step::transfer;
  const bool is_made = move.entry.step == Step::transfer || move.entry.step == Step::ready;
  return move.entry.method == Method::birth && !is_made;
}

}  // namespace

ctrl::store::Migration Records::row_of(const Move& move, const Entry& entry) const {
  ctrl::store::Migration row;
  row.id = entry.id;
  row.entry = render(entry);
  // What came home of a task is held against what went there, but for its environment.
  const bool is_open = !is_closed(entry);
  const bool is_born = entry.method == Method::birth && entry.step == Step::done;
  json::object plan = is_open || is_born ? to_json(move.plan) : json::object{};
  if (!is_open && is_born) plan["body"].as_object().erase("Env");
  plan["shown"] = to_json(view_of(move, entry, world_.network.own_name()));
  if (!move.copy.settled_life.empty()) {
    plan["ended"] = {{"life", move.copy.settled_life},
                     {"by_person", move.copy.was_ended_by_person}};
  }
  row.plan = render_json(plan);
  row.started = move.started;
  if (is_closed(entry)) row.ended = world_.clock.wall();
  return row;
}

Async<Result<void>> Records::save(MovePtr move, Entry entry) {
  ctrl::store::Migration row = row_of(*move, entry);
  move->writing.step = entry.step;
  Result<void> saved = co_await world_.rows.save(std::move(row));
  move->writing.step.reset();
  if (saved) move->written = std::move(entry);
  co_return saved;
}

// -------------------------------------------------------------------------------- the start

std::string Records::why_unread() const {
  if (is_read_) return "";
  const std::string what =
      world_.rows.is_whole() ? "was not read yet: try again in a moment, or " : "is not whole: ";
  return "the journal of migrations " + what + "see the warnings of docker flowcon status";
}

bool Records::is_reading() const { return is_begun_ && !is_read_ && world_.rows.is_whole(); }

Async<bool> Records::read(std::function<void(MovePtr)> launch) {
  const Result<std::vector<ctrl::store::Migration>> rows = co_await world_.rows.read(kKeptMoves);
  const Result<std::vector<std::string>> ended = co_await world_.rows.ended(kMostRead);
  if (!rows || !ended) {
    const Error why = rows ? ended.error() : rows.error();
    if (unread_.count()) ctrl::log::error(why.message());
    co_return false;
  }
  // Before any goes on: those that end from now on come on top.
  remember(*rows, *ended);
  bool is_done = true;
  is_whole_ = true;
  for (const ctrl::store::Migration& row : *rows) {
    if (row.ended || open_.find(row.id)) continue;
    ctrl::store::Migration copy = row;
    std::function<void(MovePtr)> launch_it = launch;
    const bool is_taken_up = co_await read_one(std::move(copy), std::move(launch_it));
    is_done = is_done && is_taken_up;
  }
  is_read_ = is_done;
  co_return is_done;
}

void Records::remember(const std::vector<ctrl::store::Migration>& rows,
                       const std::vector<std::string>& ended) {
  std::vector<PastMove> past;
  for (const ctrl::store::Migration& row : rows) {
    if (!row.ended) continue;
    const Result<json::value> plan = parse_json(row.plan);
    past.push_back({plan ? parse_view(member(*plan, "shown")) : MoveView(), *row.ended});
  }
  Ways ways;
  for (auto text = ended.rbegin(); text != ended.rend(); ++text) {
    if (const Result<Entry> entry = parse_entry(*text)) ways.add(*entry);
  }
  open_.remember(std::move(past), std::move(ways));
}

MovePtr Records::restored(const ctrl::store::Migration& row, Entry entry, Plan plan) const {
  auto move = std::make_shared<Move>(world_.clock, std::move(entry), std::move(plan));
  move->is_fresh = move->saving.was_restored = true;
  move->started = row.started;
  move->began = world_.clock.steady();
  const bool was_saving = move->entry.step == Step::undo && move->entry.has_saved;
  const bool may_be_saving = move->is_source() && (move->entry.step == Step::save || was_saving);
  if (may_act_yet(*move)) {
    move->quiet_from =
        world_.clock.steady() + kOrphanTime + (may_be_saving ? move->plan.checkpoint.timeout : 0);
  }
  const Result<json::value> parsed = parse_json(row.plan);
  const json::value shown = parsed ? json::value(object_of(*parsed, "shown")) : json::value();
  const json::value ended = parsed ? json::value(object_of(*parsed, "ended")) : json::value();
  move->copy.settled_life = text_of(ended, "life");
  move->copy.was_ended_by_person = is_true(ended, "by_person");
  move->account.peer_name = text_of(shown, move->is_source() ? "target_name" : "source_name");
  return move;
}

// False where it has to be tried again.
Async<bool> Records::read_one(ctrl::store::Migration row, std::function<void(MovePtr)> launch) {
  Result<Entry> entry = parse_entry(row.entry);
  Result<Plan> plan = parse_plan(row.plan);
  if (!entry || !plan) {
    is_whole_ = false;
    world_.host.warn("a migration in the journal cannot be read and is left alone: " +
                     (entry ? plan : Result<Plan>(entry.error())).error().message());
    co_return true;
  }
  const MovePtr move = restored(row, std::move(*entry), std::move(*plan));
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
  ctrl::log::info(move->label() + " goes on at step " + name(move->entry.step));
  launch(move);
  co_return true;
}

// -------------------------------------------------------------------------------- each step

Async<bool> Records::write_down(MovePtr move, Effect effect) {
  const bool is_new = effect.step != move->entry.step || effect.has_saved != move->entry.has_saved;
  if (!is_new && !move->writing.is_unwritten) co_return true;
  const Entry next = migration::written(move->entry, effect);
  Entry entry = next;
  const Result<void> saved = co_await save(move, std::move(entry));
  const bool undoes_unwritten =
      effect.may_run_unwritten || (move->writing.is_unwritten && effect.step == Step::undo);
  if (saved) {
    move->keep_written();
  } else {
    move->complain(saved.error());
    move->writing.is_troubled = true;
    if (effect.step == Step::start) move->writing.is_start_doubtful = true;
    if (!undoes_unwritten) {
      if (is_given_up_unwritten(move->entry, effect)) move->turn_back(saved.error().what);
      co_return false;
    }
    move->writing.is_unwritten = true;
  }
  move->entry = next;
  if (is_new) {
    move->is_fresh = false;
    move->account.steps[name(move->entry.step)] = world_.clock.steady() - move->began;
    ctrl::log::event(
        ctrl::log::MessageId::move_step,
        move->label() + ": " + name(move->entry.side) + " " + name(move->entry.step) +
            (move->entry.reason.empty() ? "" : ": " + printable(move->entry.reason, 300)),
        move->entry.container);
  }
  co_return true;
}

}  // namespace flowcon::cluster::migration
