// SPDX-License-Identifier: Apache-2.0
// What is known of one peer. For .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json/object.hpp>
#include <memory>
#include <optional>
#include <string>

#include "base/ssh_address.h"
#include "cluster/peers/backoff.h"
#include "cluster/peers/channel.h"
#include "cluster/peers/message.h"
#include "ctrl/log.h"
#include "ctrl/mutex.h"

namespace flowcon::cluster::peers {

/// One moment on both clocks of this host, in seconds. No other host's clock is ever used.
struct Instant {
  double steady = 0;
  double wall = 0;
};

[[nodiscard]] Instant present();

struct Link : std::enable_shared_from_this<Link> {
  Link(boost::asio::io_context& io, SshAddress where, bool is_configured)
      : address(std::move(where)),
        name(host_and_port(address)),
        is_from_config(is_configured),
        since(present().wall),
        timer(io),
        asking(io) {}

  SshAddress address;
  std::string name;  ///< host, with its port where that is not 22
  bool is_from_config;
  bool is_from_swarm = false;
  /// Nothing names it any more, and a migration from or to it is open, or that is not known.
  enum class Leaving { no, unknown, moving } leaving = Leaving::no;

  std::string known_id;           ///< of the host that it was first; "" = never reached
  std::optional<Hello> hello;     ///< of the last connection; `host` as it says on that now
  std::optional<State> state;     ///< the newest
  std::string error;              ///< why there is no connection; "" = there is one
  std::string unused;             ///< why it is none of the peers; "" = it is one
  std::string same_as;            ///< unused: name of the peer whose host key it has too
  bool is_refused = false;        ///< it says that it is another host than it can be
  bool may_be_another = false;    ///< a person said that it may have another id from now on
  std::optional<Instant> heard;   ///< when it last answered
  std::optional<Instant> pushed;  ///< when `state` came, where it was pushed by the peer
  double since;                   ///< wall: reachable or not since then
  bool was_reachable = false;

  boost::asio::steady_timer timer;  ///< what its coroutine waits for
  ctrl::Mutex asking;               ///< one request at a time
  std::shared_ptr<Channel> channel;
  Backoff backoff;
  ctrl::log::Repeated failures;
  bool is_due = false;     ///< there is something to publish to it now
  bool is_wanted = false;  ///< it is to be tried again now, used or not
  bool is_ended = false;   ///< removed, or the daemon stops

  /// It answered within `patience` seconds, and its connection has not ended since.
  [[nodiscard]] bool is_reachable(const Instant& now, double patience) const {
    return unused.empty() && error.empty() && heard && now.steady - heard->steady <= patience;
  }
  /// One request on the connection that is open, behind those that wait already.
  Async<Result<Reply>> ask(std::string method, std::string target, std::string body,
                           double seconds);
  /// Its coroutine tries it at once; `is_again` also where it is of no use or was tried lately.
  void wake(bool is_again) {
    is_wanted = is_wanted || is_again;
    timer.cancel();
  }
  void end() {
    is_ended = true;
    timer.cancel();
    channel.reset();
  }
  [[nodiscard]] bool is_leaving() const { return leaving != Leaving::no; }
  /// It was added by a person; what the configuration names stays named there.
  void take_as_added();
  /// Keeps `since` true; to be called before it is read and after each answer.
  void look(const Instant& now, double patience);
  /// Takes what the peer answered on our connection. A newer state that it pushed meanwhile stays,
  /// but no longer than `heartbeat` seconds: whoever else has a key must not speak for it for long.
  void take_answer(const State& answer, const Instant& now, double heartbeat);

  /// An entry of GET /v1/peers.
  [[nodiscard]] boost::json::object describe(const Instant& now, double patience) const;
};

}  // namespace flowcon::cluster::peers
