// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/engine_watch.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <csignal>
#include <string>
#include <utility>

#include "base/digits.h"
#include "ctrl/log.h"

namespace flowcon::cluster::queue {
namespace {

constexpr double kAgain = 1;  // seconds until a stream that ended is asked for again
constexpr double kTold = 1;   // seconds in which an engine tells what it remembers
constexpr const char* kActions = R"(["create","start","kill","die","destroy","rename","update"])";

}  // namespace

void LifeWatch::begin() {
  peak_memory = 0;
  is_watched = true;
  was_lost = was_stopped = was_signalled = false;
}

// An engine that comes back asks those to end that the former one had left: no person did, and it
// does not know of their start.
void LifeWatch::hear_signal(bool ends, bool remembers) {
  if (!is_watched && (!remembers || was_lost)) return;
  was_signalled = true;
  was_stopped = was_stopped || ends;
}

std::optional<double> start_of(const std::string& life) {
  const std::optional<double> started = parse_number<double>(life);
  return started && *started > 0 ? started : std::nullopt;
}

bool is_end(const ctrl::engine::EngineEvent& event, const Ticket* ticket) {
  if (event.action != "kill") return false;
  const bool hides_signal = ticket != nullptr && ticket->hides_signal;
  const int signal = hides_signal ? SIGTERM : event.signal.value_or(SIGTERM);
  return signal == SIGTERM || signal == SIGKILL || signal == SIGINT || signal == SIGQUIT ||
         (ticket != nullptr && signal == ticket->stop_signal);
}

Async<void> EngineWatch::follow() {
  while (!world_.is_ended) {
    const double now = world_.clock.wall();
    double since = now;
    for (const Listener* one : listeners_) since = std::min(since, one->wanted_since(now));
    auto connected = [this] {
      stream_ = ++streams_;
      stream_since_ = world_.clock.steady();
      remembers_ = false;
      for (Listener* one : listeners_) one->connected();
    };
    auto sink = [this](const ctrl::engine::EngineEvent& event) {
      remembers_ = remembers_ || (event.action != "kill" && event.action != "die");
      for (Listener* one : listeners_) {
        if (!world_.is_ended) one->hear(event);
      }
    };
    std::string actions = kActions;
    const auto since_ns = static_cast<std::int64_t>(since * 1e9);
    const Error ended =
        co_await world_.engine.events(since_ns, connected, sink, std::move(actions));
    ctrl::log::debug(ended.message());
    stream_ = 0;
    for (Listener* one : listeners_) one->lost();
    co_await world_.clock.pause(kAgain);
  }
}

bool EngineWatch::has_told(unsigned stream) const {
  return stream != 0 && stream == stream_ && world_.clock.steady() - stream_since_ >= kTold;
}

void EngineWatch::note_running(LifeWatch& watch, unsigned stream) const {
  if (!has_told(stream)) return;
  watch.is_watched = true;
  watch.was_lost = false;
}

std::optional<bool> EngineWatch::was_interrupted(const LifeWatch& watch, unsigned stream,
                                                 std::int64_t status, bool saves_itself,
                                                 double since) const {
  if (watch.is_watched) return false;
  // An engine that comes back tells in a moment what it remembers of this life.
  if (!has_told(stream)) return std::nullopt;
  // With status 0 ends what saves itself when its engine ends it, and what ended while nobody
  // looked.
  return status != 0 || saves_itself || watch.was_lost || world_.booted() > since;
}

}  // namespace flowcon::cluster::queue
