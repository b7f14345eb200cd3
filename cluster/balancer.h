// SPDX-License-Identifier: Apache-2.0
// What goes where: drives the policy between hosts (policy/cluster_policy.h) on this one. Shows it
// the containers each `categorise-interval` and all hosts' reports where this host coordinates,
// records what it decided, and asks for the moves; empties this host where it drains. Decides and
// moves nothing itself. Containers of other hosts are asked for, never touched: only a container's
// own host moves it.
//
// Its methods are spread by question: balancer.cpp state and rounds, balancer_moves.cpp what leaves
// this host, balancer_rebalance.cpp the load of all, balancer_answers.cpp what peers and people
// ask; balancer_json.h is how people are answered. For .cpp files only: it includes Asio.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/attempts.h"
#include "cluster/moves.h"
#include "cluster/network.h"
#include "cluster/peers/link.h"
#include "cluster/policy/cluster_policies.h"
#include "cluster/reports.h"
#include "ctrl/api/routes.h"
#include "ctrl/api/server.h"
#include "ctrl/extension.h"
#include "ctrl/log.h"
#include "ctrl/store/store.h"

namespace flowcon::cluster {

namespace policy {
struct OrderedMove;
}  // namespace policy
struct HostShown;

class Balancer : public Memory {
 public:
  using Clock = std::function<peers::Instant()>;

  Balancer(ctrl::LocalHost& host, Network& network, Moves& moves, Clock clock = peers::present);

  /// As Reports::count_tasks.
  void count_tasks(std::function<std::int64_t()> unreturned) {
    reports_.count_tasks(std::move(unreturned));
  }
  /// Reads what was kept; once, before all others.
  Async<void> begin();
  /// After each pass of the daemon, and when a peer was heard.
  void look();
  void end() { is_ended_ = true; }

  /// This host's containers by category, with the copies that are reserved here.
  [[nodiscard]] policy::Counts counts() const;
  [[nodiscard]] std::optional<policy::CategoryState> export_state(
      const std::string& id) const override;
  void import_state(const std::string& id, const std::optional<policy::CategoryState>& state,
                    const Cause& cause) override;
  void forget_state(const std::string& id) override;
  /// A host's id as people know it.
  [[nodiscard]] std::string host_name(const std::string& id) const;

  /// What people ask (docs/api.md).
  [[nodiscard]] ctrl::api::Routes routes();
  /// What peers ask (docs/peers.md).
  [[nodiscard]] ctrl::api::Routes peer_routes();

 private:
  /// A move that was begun here and has not ended.
  struct Begun {
    std::string container;
    std::string target;
    bool is_request = false;  ///< the container asked for it, and asks again where it fails
  };

  /// What came of one move of a plan.
  struct Outcome {
    std::string container, from, to;  ///< ids
    std::string state;                ///< "planned", "begun", "later", "refused"
    std::string error;
  };
  struct Rebalancing {
    std::string error;            ///< why nothing was decided; "" = it was
    bool is_on_the_move = false;  ///< for that reason
    policy::Plan plan;
    std::string policy_name;
    ctrl::policy::Rounds decided;  ///< what the plan was decided from; empty where it was not due
    std::vector<Outcome> outcomes;
    GatheringPtr gathering;
  };

  // balancer.cpp
  /// As the configuration has it now.
  policy::ClusterPolicy& active_policy();
  void take_round();
  void watch_counts(double now);
  void save(std::vector<std::string> ids, std::vector<std::string> gone);
  void record(const ctrl::policy::Rounds& rounds);
  Async<void> work();
  [[nodiscard]] std::string shown(const std::string& id) const;

  // balancer_moves.cpp
  void follow_moves();
  [[nodiscard]] bool is_busy() const;
  [[nodiscard]] std::vector<policy::Worker> workers(const std::string& container) const;
  [[nodiscard]] std::optional<std::string> next_request();
  [[nodiscard]] std::optional<std::string> next_to_leave() const;
  Async<bool> send_one();
  Async<Result<std::string>> send_away(Begun move, Cause cause);
  void take_failure(const Begun& move, const std::string& why);

  // balancer_rebalance.cpp
  Async<Rebalancing> rebalance(bool is_asked_for, bool is_dry);
  [[nodiscard]] const char* obstacle(const std::string& container);
  Async<Outcome> order(policy::Move move, Cause cause, std::shared_ptr<const std::string> state);

  // balancer_answers.cpp
  Async<ctrl::api::Response> show_cluster();
  Async<ctrl::api::Response> rebalance_for_person(std::string body);
  Async<ctrl::api::Response> rebalance_here(std::string body);
  void record_order(const policy::OrderedMove& order);
  Async<ctrl::api::Response> take_order(std::string body, std::string id);
  [[nodiscard]] std::vector<HostShown> hosts_shown() const;

  ctrl::LocalHost& host_;
  Network& network_;
  Moves& moves_;
  Clock clock_;
  policy::Categories categories_;
  Reports reports_;
  const policy::ClusterPolicyKind* kind_;
  std::unique_ptr<policy::ClusterPolicy> policy_;
  Attempts attempts_;
  std::vector<std::string> requests_;   ///< containers that want to move, in order
  std::map<std::string, Begun> begun_;  ///< by the move's id
  Attempts barred_;                     ///< containers of all hosts whose rebalancing failed
  double next_round_ = 0;               ///< steady
  /// By host, when the plan was last made for a change; empty: it is to be made again.
  std::map<std::string, std::int64_t> decided_counts_;
  double next_plan_ = 0;  ///< steady; not before
  bool is_begun_ = false;
  bool is_ended_ = false;
  bool is_working_ = false;
  bool is_beginning_ = false;  ///< a move is being begun
  bool is_rebalancing_due_ = false;
  bool was_draining_ = false;
  ctrl::log::Repeated silences_;
};

}  // namespace flowcon::cluster
