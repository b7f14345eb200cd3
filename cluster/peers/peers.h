// SPDX-License-Identifier: Apache-2.0
// The part of flowcond that knows other hosts (docs/peers.md): keeps a connection to each,
// publishes this host's state, remembers theirs. Decides nothing about containers, and takes a
// silent peer for unknown, never for dead.
//
// Its methods are spread by question: peers.cpp who is there and the connections to them,
// peers_network.cpp what the rest of the cluster sees, peers_answers.cpp what peers and people ask.
// For .cpp files only: it includes Asio.
#pragma once

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cluster/network.h"
#include "cluster/peers/identity.h"
#include "cluster/peers/ledger.h"
#include "cluster/peers/links.h"
#include "cluster/peers/message.h"
#include "cluster/peers/swarm_watch.h"
#include "ctrl/api/server.h"
#include "ctrl/effects.h"
#include "ctrl/extension.h"
#include "ctrl/store/store.h"

namespace flowcon::cluster::peers {

/// What else there is of the cluster on this host. All are called on the loop.
struct Rest {
  /// How many of this host's containers are in each category, those included that are on their way
  /// to it: as published to peers.
  std::function<policy::Counts()> counts;
  /// Does the queue of this host not decide yet?
  std::function<bool()> queue_waits;
  /// What peers ask of the rest; a peer that was not reached from here yet has no id to go by.
  ctrl::api::Routes verbs;
  /// The state that a peer published has changed, or whether it is there.
  std::function<void()> hear;
  /// Names of the containers whose migration from or to the host `id` is not finished. Errors: that
  /// is not known.
  std::function<Result<std::vector<std::string>>(const std::string& id)> moving = {};

  /// The names of what migrates from or to a peer, safe to show; "" = nothing does.
  [[nodiscard]] Result<std::string> moving_with(const Link& link) const;
};

class Peers : public ctrl::Extension, public Network {
 public:
  /// `server` may be null: then no peer can reach this host.
  Peers(ctrl::LocalHost& host, std::unique_ptr<ctrl::api::Server> server);
  /// Before begin().
  void join(Rest rest) { rest_ = std::move(rest); }
  [[nodiscard]] bool has_identity() const { return has_identity_; }
  /// This host as it would publish itself now.
  [[nodiscard]] State own_state() const;
  [[nodiscard]] const Links& links() const { return links_; }

  Async<void> begin() override;
  void look(double now) override;
  [[nodiscard]] ctrl::api::Routes routes() override;
  /// docs/peers.md
  [[nodiscard]] ctrl::api::Routes peer_routes() override;
  Async<void> settle(double seconds) override;
  void end() override;

  [[nodiscard]] const std::string& own_id() const override { return identity_.id; }
  [[nodiscard]] std::string own_name() const override;
  [[nodiscard]] std::optional<std::vector<std::string>> leaders() const override;
  [[nodiscard]] bool is_draining() const override { return identity_.is_draining; }
  [[nodiscard]] std::vector<Neighbour> neighbours() const override;
  Async<Result<Answer>> ask(std::string id, std::string method, std::string target,
                            std::string body, double seconds) override;
  [[nodiscard]] Result<std::vector<std::string>> dial(const std::string& id) const override;
  void tell() override;

 private:
  // peers.cpp
  LinkPtr add(SshAddress address, bool is_from_config);
  void drop(LinkPtr link);
  /// Else it leaves, with a warning that says that it is named no longer `where`.
  [[nodiscard]] bool may_go(Link& link, const std::string& where);
  void follow_config();
  Async<void> keep(LinkPtr link);
  Async<void> talk(LinkPtr link);
  Async<Result<void>> converse(LinkPtr link);
  Async<Result<void>> greet(LinkPtr link);
  Async<Result<void>> exchange(LinkPtr link);
  Async<IdVerdict> judge(LinkPtr link, std::string id);
  [[nodiscard]] State next_state();
  [[nodiscard]] double patience() const { return 3 * heartbeat_; }
  void follow_swarm();

  // peers_answers.cpp
  Async<ctrl::api::Response> answer_peer(ctrl::api::Request request);
  Async<ctrl::api::Response> answer_long(ctrl::api::Request head, ctrl::Pull body);
  [[nodiscard]] ctrl::api::Response take_state(const std::string& body, const std::string& from);
  Async<ctrl::api::Response> list();
  Async<ctrl::api::Response> add_by_command(std::string body);
  Async<ctrl::api::Response> remove(std::string name, std::string body);
  Async<ctrl::api::Response> drain(std::string name, bool is_draining);
  Async<ctrl::api::Response> drain_here(bool is_draining);

  ctrl::LocalHost& host_;
  Rest rest_;
  ctrl::api::Routes verbs_;                    ///< peer_routes()
  std::unique_ptr<ctrl::api::Server> server_;  ///< null where its socket could not be had
  double heartbeat_;
  std::string ssh_folder_;
  ctrl::store::Identity identity_;
  bool has_identity_ = false;  ///< without one nothing is published
  std::int64_t sequence_ = 0;
  State told_;  ///< published last
  Ledger ledger_;
  std::vector<std::string> configured_;  ///< peers of the configuration, as they were last read
  KnownIds ids_;
  Links links_;
  std::minstd_rand chance_;
  SwarmWatch swarm_;
  bool is_ended_ = false;
};

}  // namespace flowcon::cluster::peers
