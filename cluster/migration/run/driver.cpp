// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/driver.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <utility>

#include "base/failpoint.h"
#include "base/json.h"
#include "ctrl/events.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster::migration {
namespace {

constexpr double kFirstRest = 0.2;  // seconds
constexpr double kLongestRest = 3;  // seconds; news wake it
constexpr double kHoldLook = 0.05;  // seconds

// Does it change what the engine has to have on its disk?
bool changes_copy(Act act) {
  return act != Act::wait && act != Act::report && act != Act::send && act != Act::sync &&
         act != Act::close;
}

}  // namespace

Driver::Driver(World& world, OpenMoves& open, Records& records, Cache& cache)
    : world_(world),
      open_(open),
      records_(records),
      cache_(cache),
      watch_(world, open, records),
      facts_(world, watch_),
      saver_(world),
      sender_(world),
      copies_(world, records, cache) {}

void Driver::launch(MovePtr move) {
  open_.add(move);
  ctrl::spawn(world_.host.io(), "move " + move->entry.id.substr(0, 8), drive(move));
  watch_.begin();
}

Async<void> Driver::drive(MovePtr move) {
  while (!is_closed(move->entry) && !world_.is_ended) {
    const Facts facts = co_await facts_.gather(move);
    if (world_.is_ended) co_return;
    tell_progress(*move);
    Effect effect = move->is_fresh ? recover(move->entry, facts) : next_effect(move->entry, facts);
    if (facts.copy != Copy::unknown && move->entry.step > Step::transfer) move->is_fresh = false;
    const Step before = move->entry.step;
    if (!co_await records_.write_down(move, effect)) {
      co_await rest(move);
      continue;
    }
    const bool was_given_up = !move->give_up.empty();
    co_await hold(move);
    if (world_.is_ended) co_return;
    if (!was_given_up && !move->give_up.empty()) continue;
    const bool is_done = co_await carry_out(move, std::move(effect));
    if (is_done || move->entry.step != before) {
      move->rest = 0;
    } else {
      co_await rest(move);
    }
  }
  if (!world_.is_ended) close(move);
}

Async<void> Driver::rest(MovePtr move) {
  if (!move->is_woken) {
    move->rest = std::clamp(move->rest * 2, kFirstRest, kLongestRest);
    co_await move->alarm->wait(move->rest);
  }
  if (move->is_woken) move->rest = 0;
  move->is_woken = false;
}

// A failpoint: a step that is written and not yet acted on.
Async<void> Driver::hold(MovePtr move) {
  if (move->held == move->entry.step) co_return;
  move->held = move->entry.step;
  const std::string here =
      std::string("move.") + name(move->entry.side) + "." + name(move->entry.step);
  const double until = world_.clock.steady() + failpoint_seconds(here);
  while (world_.clock.steady() < until && !failpoints_are_over() && !world_.is_stopping)
    co_await world_.clock.pause(kHoldLook);
}

Async<bool> Driver::carry_out(MovePtr move, Effect effect) {
  const std::string container = move->entry.container;
  if (changes_copy(effect.act)) move->copy.is_synced = false;
  switch (effect.act) {
    case Act::wait:
      if (!effect.reason.empty() && move->trouble.empty()) move->trouble = effect.reason;
      co_return false;
    case Act::report:
      if (!effect.reason.empty()) move->trouble = effect.reason;
      co_return co_await sender_.report(move);
    case Act::prepare:
      if (co_await copies_.prepare(move)) co_return true;
      // Its image is still to come, unless the source has given the migration up.
      co_return co_await sender_.report(move);
    case Act::disarm: {
      const Result<void> done = co_await world_.engine.set_policy(container, {});
      co_return move->took(done);
    }
    case Act::save: {
      (void)sender_.connect(*move);  // send() says why it fails
      const bool is_done = co_await saver_.save(move);
      if (!move->saving.is_saved) move->travel.connection.reset();
      co_return is_done;
    }
    case Act::send:
      co_return co_await sender_.send(move);
    case Act::start:
      co_return co_await copies_.start(move);
    case Act::stop: {
      const Result<void> done = co_await world_.engine.stop_at_once(container);
      co_return move->took(done);
    }
    case Act::arm: {
      json::object policy = move->plan.restart_policy;
      const Result<void> done = co_await world_.engine.set_policy(container, std::move(policy));
      co_return move->took(done);
    }
    case Act::remove:
      co_return co_await copies_.remove(move);
    case Act::sync:
      co_return co_await copies_.sync_engine(move);
    case Act::close:
      co_return co_await close_copy(move);
  }
  co_return false;
}

Async<bool> Driver::close_copy(MovePtr move) {
  if (move->entry.method == Method::criu &&
      (move->is_source() ? move->copy.seen == Copy::running : move->entry.step == Step::done)) {
    std::string container = move->entry.container, checkpoint = move->checkpoint_name();
    (void)co_await world_.engine.remove_checkpoint(std::move(container), std::move(checkpoint));
  }
  co_return true;
}

// Whoever owns the task need not look again and again.
void Driver::tell_progress(Move& move) const {
  const std::pair<Step, Step> now{move.written.step, move.peer.step};
  if (!move.is_of_task() || !world_.told || now == move.told) return;
  move.told = now;
  world_.told(move.entry.id);
}

// The source tells: the job was its own.
void Driver::tell_end(const Move& move) {
  if (!move.is_source() || move.is_of_task()) return;
  const bool is_there = move.entry.step == Step::done;
  ctrl::Event event;
  event.kind = is_there ? ctrl::EventKind::migrated : ctrl::EventKind::failure;
  event.container = move.entry.name;
  event.id = move.entry.container;
  event.sentence = is_there ? "it runs on " + move.account.peer_name
                            : "its migration to " + move.account.peer_name + " was undone: " +
                                  (move.entry.reason.empty() ? move.trouble : move.entry.reason);
  world_.host.tell(std::move(event));
}

void Driver::close(const MovePtr& move) {
  tell_end(*move);
  open_.close(move);
  tell_progress(*move);
  cache_.wake();  // which sweeps
  world_.network.tell();
}

}  // namespace flowcon::cluster::migration
