// SPDX-License-Identifier: Apache-2.0
#include "cluster/peers/link.h"

#include <boost/asio/awaitable.hpp>
#include <cerrno>

#include "base/json.h"
#include "base/seconds.h"
#include "base/text.h"
#include "cluster/peers/ssh.h"

namespace flowcon::cluster::peers {

Instant present() { return {steady_seconds(), wall_seconds()}; }

void Link::take_as_added() {
  if (is_leaving()) is_from_config = false;
  is_from_swarm = false;
  leaving = Leaving::no;
}

void Link::look(const Instant& now, double patience) {
  const bool is_now = is_reachable(now, patience);
  if (is_now == was_reachable) return;
  was_reachable = is_now;
  // It is not noticed at once that somebody fell silent.
  const double silent = heard ? now.steady - heard->steady - patience : 0;
  since = is_now || silent < 0 ? now.wall : now.wall - silent;
}

void Link::take_answer(const State& answer, const Instant& now, double heartbeat) {
  heard = now;
  const bool is_overtaken = state && pushed && now.steady - pushed->steady < heartbeat &&
                            state->incarnation == answer.incarnation &&
                            state->sequence > answer.sequence;
  if (is_overtaken) return;
  state = answer;
  pushed.reset();
}

Async<Result<Reply>> Link::ask(std::string method, std::string target, std::string body,
                               double seconds) {
  const auto self = shared_from_this();
  const auto guard = co_await asking.lock();
  const std::shared_ptr<Channel> open = channel;
  if (!open) co_return errno_error(ENOTCONN, "there is no connection");
  Result<Reply> reply =
      co_await open->ask(std::move(method), std::move(target), std::move(body), seconds);
  co_return reply;
}

json::object Link::describe(const Instant& now, double patience) const {
  json::object out;
  const bool is_now = is_reachable(now, patience);
  out["name"] = name;
  out["user"] = address.user.empty() ? kPeerUser : address.user;
  out["host"] = address.host;
  out["port"] = address.port;
  out["source"] = is_leaving()     ? "leaving"
                  : is_from_config ? "config"
                  : is_from_swarm  ? "swarm"
                                   : "command";
  out["state"] = !unused.empty() ? "unused" : is_now ? "reachable" : "unknown";
  out["since"] = since;
  out["heard"] = number_or_null(heard ? std::optional(now.steady - heard->steady) : std::nullopt);
  out["version"] = hello ? json::value(hello->version) : json::value(nullptr);
  out["id"] = hello ? json::value(hello->id) : json::value(nullptr);
  out["hostname"] = hello ? json::value(hello->host) : json::value(nullptr);
  // The last that was known; `state` says whether it still holds.
  json::object scores;
  for (const char* member : {"pc", "wc", "cc"}) scores[member] = nullptr;
  for (const char* member : {"usage", "cores", "memory", "containers", "draining"}) {
    out[member] = nullptr;
  }
  if (state) {
    scores["pc"] = state->counts.pc;
    scores["wc"] = state->counts.wc;
    scores["cc"] = state->counts.cc;
    out["usage"] = state->usage;
    out["cores"] = state->cores;
    out["memory"] = state->memory;
    out["containers"] = state->containers;
    out["draining"] = state->draining;
  }
  out["scores"] = std::move(scores);
  std::string said = unused.empty() ? error : unused;
  if (said.empty() && !is_now) {
    said =
        heard ? name + " fell silent: is it switched on and in the network?" : "not connected yet";
  }
  out["error"] = valid_utf8(said);
  return out;
}

}  // namespace flowcon::cluster::peers
