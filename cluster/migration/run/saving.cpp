// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/saving.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <csignal>
#include <utility>

#include "base/json.h"
#include "base/json_reader.h"
#include "cluster/migration/plan/left_behind.h"
#include "cluster/migration/run/deaf.h"
#include "cluster/migration/run/processes.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster::migration {
namespace {

constexpr double kCriuTime = 300;   // seconds for CRIU to write a large job's memory
constexpr double kLook = 0.1;       // seconds between two looks whether the job has ended
constexpr double kOrphanTime = 30;  // seconds in which an engine ends what was not answered

bool has_writable_bind(const json::object& body) {
  const json::value whole(body);
  const json::array& mounts = list_of(member(whole, "HostConfig"), "Mounts");
  return std::any_of(mounts.begin(), mounts.end(), [](const json::value& mount) {
    return text_of(mount, "Type") == "bind" && !is_true(mount, "ReadOnly");
  });
}

}  // namespace

Async<bool> Saver::save(MovePtr move) {
  if (!move->saving.stopped_at) move->saving.stopped_at = world_.clock.steady();
  move->saving.was_asked = true;
  world_.host.apply_limits();
  Result<void> saved;
  if (move->entry.method == Method::app) {
    saved = co_await save_by_application(move);
  } else {
    saved = co_await save_by_criu(move);
  }
  if (saved) {
    const Result<Seen> seen = co_await world_.engine.look(move->entry.container);
    if (seen) move->saving.saved_life = seen->started;
    move->saving.is_saved = true;
  } else {
    co_await note_end(move);
    if (is_timeout(saved.error())) move->stay_quiet(kOrphanTime);
    move->give_up = saved.error().what;
    move->complain(saved.error());
  }
  // Saving may take long; how long the other side is silent counts from here.
  move->peer.heard = world_.clock.steady();
  co_return true;
}

Async<Result<void>> Saver::save_by_criu(MovePtr move) {
  move->saving.is_dumping = true;
  ctrl::spawn(world_.host.io(), "dump " + move->entry.name, watch_dump(move));
  Result<void> saved = co_await world_.engine.make_checkpoint(move->entry.container,
                                                              move->checkpoint_name(), kCriuTime);
  move->saving.is_dumping = false;
  if (!saved && !move->give_up.empty()) co_return bad_input(move->give_up);
  if (!saved) co_return saved;
  co_return co_await see_end(move);
}

// The engine tells of a whole checkpoint a moment before it sees that the container has ended.
Async<Result<void>> Saver::see_end(MovePtr move) {
  const double until = world_.clock.steady() + kOrphanTime;
  for (;;) {
    const Result<Seen> seen = co_await world_.engine.look(move->entry.container);
    if (seen && seen->copy != Copy::running) co_return Result<void>();
    const bool is_late = world_.clock.steady() >= until;
    if (is_late && !seen) co_return Result<void>();
    if (is_late) {
      co_return errno_error(ETIMEDOUT, "CRIU has saved it, and the engine says " +
                                           render_number(kOrphanTime) + " s later that it runs");
    }
    co_await world_.clock.pause(kLook);
  }
}

// The engine ends no CRIU that nobody waits for any more, and the job would stand still with it.
Async<void> Saver::watch_dump(MovePtr move) {
  while (move->saving.is_dumping && !world_.is_ended) {
    co_await world_.clock.pause(kLook);
    if (move->give_up.empty()) continue;
    const Result<Seen> seen = co_await world_.engine.look(move->entry.container);
    if (seen && move->saving.is_dumping) end_dump(seen->pid, move->entry.container);
  }
}

Async<Result<void>> Saver::save_by_application(MovePtr move) {
  const ctrl::Checkpoint& how = move->plan.checkpoint;
  if (how.command.empty()) {
    co_return co_await save_by_signal(move, how.signal > 0 ? how.signal : SIGTERM);
  }
  std::string id = move->entry.container;
  std::vector<std::string> words = how.command;
  Result<std::int64_t> status =
      co_await world_.engine.execute(std::move(id), std::move(words), how.timeout);
  // The job itself was asked for nothing yet: it runs on.
  if (!move->give_up.empty()) co_return bad_input(move->give_up);
  if (move->peer.undoes()) co_return bad_input("the target turned it down");
  if (!status) co_return status.error();
  if (*status != 0) {
    co_return bad_input("its checkpoint command failed with status " + std::to_string(*status));
  }
  co_await note_end(move);
  if (move->saving.has_ended)
    co_return bad_input("it ended by itself while its checkpoint command ran");
  move->saving.was_told_to_end = true;
  move->stay_quiet(how.timeout + kOrphanTime);
  const Result<void> stopped = co_await world_.engine.stop(move->entry.container);
  if (!stopped) co_return stopped;
  move->quiet_from = 0;
  co_return co_await believe_saved(move, std::nullopt);
}

// The job saves when it gets the signal, and ends with status 0.
Async<Result<void>> Saver::save_by_signal(MovePtr move, int signal) {
  std::string id = move->entry.container;
  const timespec asked = world_.files.now();
  const double asked_at = world_.clock.steady();
  const double timeout = move->plan.checkpoint.timeout;
  // Whatever comes in between: it may save and end yet.
  move->stay_quiet(timeout + kOrphanTime);
  Result<void> sent = co_await world_.engine.kill(std::move(id), signal);
  // An answer that is lost says nothing of the signal; the engine's own words do.
  const bool is_refused = !sent && (!sent.error().code || is_absent(sent.error()));
  if (is_refused) co_return sent;
  move->saving.was_told_to_end = true;
  if (!sent) co_return sent;
  move->saving.has_signal = true;
  const double until = world_.clock.steady() + timeout;
  for (;;) {
    const Result<Seen> seen = co_await world_.engine.look(move->entry.container);
    if (!seen && (world_.clock.steady() >= until || !move->give_up.empty())) co_return seen.error();
    if (!seen) {
      co_await world_.clock.pause(kLook);
      continue;
    }
    if (seen->copy != Copy::running) {
      move->quiet_from = 0;
      const double waited = world_.clock.steady() - asked_at;
      co_return co_await judge_status(move, signal, seen->exit_code, asked, waited);
    }
    if (world_.clock.steady() >= until || !move->give_up.empty()) {
      move->stay_quiet(timeout);
      if (!move->give_up.empty()) co_return bad_input(move->give_up);
      const std::string shell = why_deaf(seen->pid, signal);
      co_return errno_error(ETIMEDOUT, "it has not ended " + render_number(timeout) + " s after " +
                                           ctrl::signal_name(signal) +
                                           (shell.empty() ? "" : ": " + shell));
    }
    co_await world_.clock.pause(kLook);
  }
}

Async<Result<void>> Saver::judge_status(MovePtr move, int signal, std::int64_t status,
                                        timespec asked, double waited) {
  // A clock that was set back says nothing of what is new.
  const double passed = world_.clock.wall() - static_cast<double>(asked.tv_sec) -
                        static_cast<double>(asked.tv_nsec) / 1e9;
  const bool is_set_back = passed < waited - 0.1;
  std::optional<timespec> since = asked;
  if (is_set_back) since.reset();
  if (status == 0) co_return co_await believe_saved(move, since);
  const std::string how = status == 128 + signal
                              ? "it was ended by " + ctrl::signal_name(signal) +
                                    " and has not saved: it has no handler for that signal"
                              : "it ended with status " + std::to_string(status) + " when it got " +
                                    ctrl::signal_name(signal) + " (0 says that it has saved)";
  co_return bad_input(how);
}

Async<Result<void>> Saver::believe_saved(MovePtr move, std::optional<timespec> asked) {
  const Result<CopyPlace> place =
      co_await world_.goods.find_place(move->entry.container, world_.host.config().state_dir);
  if (!place) co_return place.error();
  if (move->plan.checkpoint.path.empty()) {
    std::string again = move->entry.container, upper = place->upper;
    json::object body = move->plan.body;
    Result<std::string> changes = co_await world_.engine.changes(std::move(again));
    if (!changes) co_return changes.error();
    const LeftBehind left = co_await world_.files.left_behind(std::move(*changes), std::move(upper),
                                                              std::move(body), asked);
    if (left.is_cut) co_return bad_input(kTooManyChanges);
    if (!left.files.empty()) {
      co_return bad_input("it has written files that would not travel: " + some_of(left.files) +
                          " (name its checkpoint in flowcon.checkpoint.path)");
    }
  }
  if (!asked || has_writable_bind(move->plan.body)) co_return Result<void>();
  Plan plan = move->plan;
  CopyPlace where = *place;
  if (co_await world_.files.has_saved_since(std::move(plan), std::move(where), *asked)) {
    co_return Result<void>();
  }
  move->saving.has_ended = true;
  co_return bad_input(
      "it ended with status 0 and wrote nothing to its checkpoint after it had been asked to save: "
      "it has ended by itself");
}

// A job that was not told to end and has ended, ended by itself.
Async<void> Saver::note_end(MovePtr move) {
  if (move->saving.was_told_to_end) co_return;
  const Result<Seen> seen = co_await world_.engine.look(move->entry.container);
  move->saving.has_ended = seen && (seen->copy == Copy::finished || seen->copy == Copy::failed);
}

}  // namespace flowcon::cluster::migration
