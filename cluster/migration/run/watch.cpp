// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/watch.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <csignal>
#include <utility>

#include "base/json_reader.h"
#include "base/text.h"
#include "ctrl/settings.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster::migration {
namespace {

constexpr double kAgain = 1;  // seconds until a stream that ended is asked for again
constexpr const char* kActions = R"(["start","kill","die"])";

bool ends(const ctrl::engine::EngineEvent& event, const Plan& plan) {
  // The engine writes labels over what an event says.
  const bool is_label = object_of(member(plan.body, "Labels")).contains("signal");
  const int signal = is_label ? SIGTERM : event.signal.value_or(SIGTERM);
  const auto stop = plan.body.find("StopSignal");
  const bool has_own = stop != plan.body.end() && stop->value().is_string();
  const std::string name = has_own ? std::string(stop->value().get_string()) : "TERM";
  const Result<int> own = ctrl::parse_signal(name);
  return signal == SIGTERM || signal == SIGKILL || signal == SIGINT || signal == SIGQUIT ||
         (own && signal == *own);
}

// Or is being: what is written is not known before it is through.
bool is_handed_over(const Move& move) {
  return move.is_source() && (move.entry.step == Step::start || move.writing.step == Step::start);
}

}  // namespace

void Watch::begin() {
  if (is_watching_) return;
  is_watching_ = true;
  ctrl::spawn(world_.host.io(), "engine of moves", follow());
}

// From the beginning of the oldest move on: what was done while flowcond did not run counts, too.
Async<void> Watch::follow() {
  while (!world_.is_ended) {
    double since = world_.clock.wall();
    for (const auto& [id, move] : open_.all()) since = std::min(since, move->started);
    auto connected = [this] { stream_ = ++streams_; };
    auto sink = [this](const ctrl::engine::EngineEvent& event) {
      if (!world_.is_ended) hear(event);
    };
    std::string actions = kActions;
    const auto since_ns = static_cast<std::int64_t>(since * 1e9);
    const Error ended =
        co_await world_.engine.events(since_ns, connected, sink, std::move(actions));
    ctrl::log::debug(ended.message());
    // If it was no other engine, it tells again what it remembers.
    stream_ = 0;
    for (const auto& [id, move] : open_.all())
      move->copy.is_watched = move->copy.was_killed = false;
    co_await world_.clock.pause(kAgain);
  }
}

void Watch::hear(const ctrl::engine::EngineEvent& event) {
  for (const auto& [id, move] : open_.all()) {
    if (move->entry.container != event.id) continue;
    if (event.action == "kill" && ends(event, move->plan)) {
      move->copy.was_killed = true;
    }
    if (event.action == "start") {
      move->copy.is_watched = true;
      move->copy.was_killed = false;
      if (is_handed_over(*move)) {
        move->copy.seen = Copy::running;
        ctrl::spawn(world_.host.io(), "halt " + id.substr(0, 8), halt(move));
      }
    }
    move->wake();
    return;
  }
}

// How a copy is that is down. What ended by itself or by a person's hand stays so. An engine that
// ends stops its containers as a person does, and takes no call any more; one that comes back stops
// those that it finds running, and does not remember their start. A job that saves when it is asked
// to ends with status 0 then. `has_heard`: what the engine remembers was told before it was seen.
Async<Copy> Watch::judge_end(MovePtr move, Seen seen, bool has_heard) {
  if (seen.started != move->copy.settled_life) {
    // A host that goes down may end its containers before their engine does.
    if (!has_heard || world_.is_stopping) co_return Copy::unknown;
    if (!move->copy.is_watched) co_return Copy::stopped;
    move->copy.settled_life = seen.started;
    move->copy.was_ended_by_person = move->copy.was_killed;
    // Another flowcond may meet another engine.
    Entry same = move->written;
    (void)co_await records_.save(move, std::move(same));
  }
  if (move->copy.was_ended_by_person) co_return Copy::stopped;
  // Ended as if by a signal, of which its engine knows nothing.
  co_return seen.copy == Copy::stopped ? Copy::finished : seen.copy;
}

// Beside drive(), which may be waiting for the other host.
Async<void> Watch::halt(MovePtr move) {
  if (std::exchange(move->copy.is_halting, true)) co_return;
  while (!world_.is_ended && is_handed_over(*move)) {
    std::string container = move->entry.container;
    const Result<Seen> seen = co_await world_.engine.look(container);
    if (!seen) {
      move->copy.seen = Copy::unknown;
      move->complain(seen.error());
      break;
    }
    move->copy.seen = seen->copy;
    if (seen->copy != Copy::running || !is_handed_over(*move)) break;
    const std::string what = "it was started here after its hand-over to " +
                             move->account.peer_name +
                             ", and flowcond stopped it again: disable what starts it (a person, a "
                             "systemd unit, compose)";
    move->complain(bad_input(what));
    if (!std::exchange(move->copy.has_warned, true)) {
      world_.host.warn("container " + printable(move->entry.name, 80) + ": " + what);
    }
    Result<void> stopped = co_await world_.engine.stop_at_once(std::move(container));
    if (!move->took(stopped)) break;
  }
  move->copy.is_halting = false;
  move->wake();
}

}  // namespace flowcon::cluster::migration
