// SPDX-License-Identifier: Apache-2.0
// Calls of people about containers of other hosts: what migrated from here is asked for, and acted
// on, where it is now. For .cpp files only: it includes Asio.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/moves.h"
#include "cluster/network.h"
#include "ctrl/api/routes.h"
#include "ctrl/extension.h"

namespace flowcon::cluster {

class Elsewhere {
 public:
  /// Seconds that a host has for the answer to a call that is passed on, unless that is `migrate`.
  /// Heartbeats wait for it, so it is less than two of them by default.
  static constexpr double kAnswerTime = 5;

  Elsewhere(ctrl::LocalHost& host, Network& network, const Moves& moves,
            double answer_time = kAnswerTime)
      : host_(host), network_(network), moves_(moves), answer_time_(answer_time) {}

  /// The answer of the host that the container of the call migrated to, with that host's name in
  /// `forwarded_to`. Empty: this host answers by itself, since it has the container or never gave
  /// one of that name away, or since the call changes nothing and that host cannot be reached.
  Async<std::optional<ctrl::api::Response>> answer(ctrl::api::Request request);
  /// Calls about other hosts: docs/api.md.
  [[nodiscard]] ctrl::api::Routes routes();
  /// What peers ask (docs/peers.md).
  [[nodiscard]] ctrl::api::Routes peer_routes();
  /// POST /v1/peer/call, of the host `speaker`. It may see what people may see of this host, and
  /// change what migrated from it to here, and read what that prints. 503 while four of its calls
  /// go on that took too long.
  Async<ctrl::api::Response> take(std::string body, std::string speaker);

 private:
  struct Wanted;
  Async<ctrl::api::Response> ask(std::string host, Wanted wanted);
  Async<ctrl::api::Response> look(std::string peer, std::string target);
  [[nodiscard]] std::optional<Way> way_of(const std::string& name) const;
  /// The id of a container of this host, also of one that was stopped to migrate; "" = none.
  [[nodiscard]] std::string id_of(const std::string& name) const;
  /// Did a container (its id here) come from that host?
  [[nodiscard]] bool has_from(const std::string& id, const std::string& speaker) const;

  ctrl::LocalHost& host_;
  Network& network_;
  const Moves& moves_;
  double answer_time_;
  /// By the host that asked: its calls that nobody waits for any more, until they have ended.
  std::map<std::string, std::vector<std::weak_ptr<void>>> late_;
};

}  // namespace flowcon::cluster
