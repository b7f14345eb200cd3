// SPDX-License-Identifier: Apache-2.0
// What others do to a copy while it moves: people and supervisors that start what was handed over,
// or stop what runs. The engine's events tell it at once; each look at the copy shows it later.
#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <csignal>

#include "base/text.h"
#include "cluster/migration/run/mover_state.h"
#include "ctrl/pause.h"
#include "ctrl/settings.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster::migration {
namespace {

using ctrl::Async;

constexpr double kAgain = 1;  // seconds until a stream that ended is asked for again
constexpr const char* kActions = R"(["start","kill","die"])";

bool ends(int signal, const Plan& plan) {
  const auto stop = plan.body.find("StopSignal");
  const bool has_own = stop != plan.body.end() && stop->value().is_string();
  const std::string name = has_own ? std::string(stop->value().get_string()) : "TERM";
  const Result<int> own = ctrl::parse_signal(name);
  return signal == SIGTERM || signal == SIGKILL || signal == SIGINT || signal == SIGQUIT ||
         (own && signal == *own);
}

// Or is being: what is written is not known before it is through.
bool is_handed_over(const Move& move) {
  return move.is_source() && (move.entry.step == Step::start || move.writing == Step::start);
}

}  // namespace

// From the beginning of the oldest move on: what was done while flowcond did not run counts, too.
Async<void> Movers::watch_engine() {
  while (!is_ended_) {
    double since = wall_now();
    for (const auto& [id, move] : moves_) since = std::min(since, move->started);
    auto connected = [this](const std::function<void()>&) { stream_ = ++streams_; };
    auto sink = [this](const ctrl::engine::Event& event) {
      if (!is_ended_) hear_engine(event);
    };
    std::string actions = kActions;
    const auto since_ns = static_cast<std::int64_t>(since * 1e9);
    const Error ended = co_await client_.events(since_ns, connected, sink, std::move(actions));
    ctrl::log::debug(ended.message());
    // If it was no other engine, it tells again what it remembers.
    stream_ = 0;
    for (const auto& [id, move] : moves_) move->is_watched = move->was_killed = false;
    co_await ctrl::pause(kAgain);
  }
}

void Movers::hear_engine(const ctrl::engine::Event& event) {
  for (const auto& [id, move] : moves_) {
    if (move->entry.container != event.id) continue;
    if (event.action == "kill" && ends(event.signal.value_or(SIGTERM), move->plan)) {
      move->was_killed = true;
    }
    if (event.action == "start") {
      move->is_watched = true;
      move->was_killed = false;
      if (is_handed_over(*move)) {
        move->seen = Copy::running;
        ctrl::spawn(host_.io(), "halt " + id.substr(0, 8), halt(move));
      }
    }
    wake(*move);
    return;
  }
}

// How a copy is that is down. What ended by itself or by a person's hand stays so. An engine that
// ends stops its containers as a person does, and takes no call any more; one that comes back stops
// those that it finds running, and does not remember their start. A job that saves when it is asked
// to ends with status 0 then. `has_heard`: what the engine remembers was told before it was seen.
Async<Copy> Movers::judge_end(MovePtr move, Seen seen, bool has_heard) {
  if (seen.started != move->settled_life) {
    // A host that goes down may end its containers before their engine does.
    if (!has_heard || is_stopping_) co_return Copy::unknown;
    if (!move->is_watched) co_return Copy::stopped;
    move->settled_life = seen.started;
    move->was_ended_by_person = move->was_killed;
    // Another flowcond may meet another engine.
    Entry same = move->written;
    (void)co_await save(move, std::move(same));
  }
  if (move->was_ended_by_person) co_return Copy::stopped;
  // Ended as if by a signal, of which its engine knows nothing.
  co_return seen.copy == Copy::stopped ? Copy::finished : seen.copy;
}

// Beside drive(), which may be waiting for the other host.
Async<void> Movers::halt(MovePtr move) {
  if (std::exchange(move->is_halting, true)) co_return;
  while (!is_ended_ && is_handed_over(*move)) {
    std::string container = move->entry.container;
    const Result<Seen> seen = co_await engine_.look(container);
    if (!seen) {
      move->seen = Copy::unknown;
      complain(*move, seen.error());
      break;
    }
    move->seen = seen->copy;
    if (seen->copy != Copy::running || !is_handed_over(*move)) break;
    const std::string what =
        "it was started here after it was handed over to " + move->account.peer_name +
        ", and is stopped again: switch off what starts it (a person, a systemd unit, compose)";
    complain(*move, bad_input(what));
    if (!std::exchange(move->has_warned, true)) {
      host_.warn("container " + printable(move->entry.name, 80) + ": " + what);
    }
    Result<void> stopped = co_await engine_.stop_at_once(std::move(container));
    if (!co_await took(move, std::move(stopped))) break;
  }
  move->is_halting = false;
  wake(*move);
}

}  // namespace flowcon::cluster::migration
