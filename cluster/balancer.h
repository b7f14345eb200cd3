// SPDX-License-Identifier: Apache-2.0
// What goes where: looks at this host's containers each `categorise-interval` (Algorithm 3), has
// converged ones moved to where they hurt least (4), empties this host where it drains, and, where
// it is the lowest-named of the hosts that are reachable, evens out the load of all (5). With
// cluster-policy = balance it does so by the work that is left (steer), in place of 4 and 5.
// Decides by cluster/policy alone, records what it decided, and moves nothing itself. Containers of
// other hosts are asked for, never touched: only a container's own host moves it.
//
// Its methods are spread by question: balancer.cpp marks and rounds, balancer_moves.cpp what leaves
// this host, balancer_rebalance.cpp the load of all, balancer_answers.cpp what peers and people
// ask. For .cpp files only: it includes Asio.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <boost/json/object.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/balance/attempts.h"
#include "cluster/balance/marks.h"
#include "cluster/balance/report.h"
#include "cluster/moves.h"
#include "cluster/network.h"
#include "cluster/peers/link.h"
#include "cluster/policy/speculate.h"
#include "ctrl/api/routes.h"
#include "ctrl/companion.h"
#include "ctrl/log.h"
#include "ctrl/store/store.h"

namespace flowcon::cluster {

class Balancer : public Memory {
 public:
  using Clock = std::function<peers::Instant()>;

  Balancer(ctrl::LocalHost& host, Network& network, Moves& moves, Clock clock = peers::present);

  /// Reads what was kept; once, before all others.
  ctrl::Async<void> begin();
  /// After each pass of the daemon, and when a peer was heard.
  void look();
  void end() { is_ended_ = true; }

  /// This host's containers by category, with the copies that are reserved here.
  [[nodiscard]] policy::Counts counts() const;
  [[nodiscard]] boost::json::object export_marks(const std::string& id) const override;
  Result<void> import_marks(const std::string& id, const boost::json::object& marks,
                            Cause cause) override;
  void forget_marks(const std::string& id) override;
  /// A host's id as people know it.
  [[nodiscard]] std::string host_name(const std::string& id) const;

  /// What people ask (docs/api.md).
  [[nodiscard]] ctrl::api::Routes routes();
  /// `id` is the peer's that asks.
  [[nodiscard]] bool answers_peer(const ctrl::api::Request& request) const;
  ctrl::Async<ctrl::api::Response> answer_peer(ctrl::api::Request request, std::string id);

 private:
  /// A move that was begun here and has not ended.
  struct Begun {
    std::string container;
    std::string target;
    Cause cause = Cause::speculate;
  };

  /// What the hosts said of their containers.
  struct Gathering {
    explicit Gathering(boost::asio::io_context& io) : done(io) {}
    std::vector<balance::HostReport> reports;  ///< this host's first
    std::map<std::string, std::string> names;  ///< by id, as they call themselves
    std::string silent;  ///< who did not answer, and why, in words; "" = all did
    std::size_t missing = 0;
    boost::asio::steady_timer done;
  };
  using GatheringPtr = std::shared_ptr<Gathering>;

  /// What is to be moved, and what that was decided from.
  struct Plan {
    Cause cause = Cause::rebalance;
    bool is_due = false;  ///< it would have been decided without being asked for
    std::vector<policy::Move> moves;
    boost::json::value state;  ///< null where nothing was decided
    boost::json::value decision;
  };

  /// What came of one move of it.
  struct Outcome {
    std::string container, from, to;  ///< ids
    std::string state;                ///< "planned", "begun", "later", "refused"
    std::string error;
  };
  struct Rebalancing {
    std::string error;            ///< why nothing was decided; "" = it was
    bool is_on_the_move = false;  ///< for that reason
    Plan plan;
    std::vector<Outcome> outcomes;
    GatheringPtr gathering;
  };

  // balancer.cpp
  void take_round();
  void watch_counts(double now);
  [[nodiscard]] bool is_balancing() const;
  void save(std::vector<std::string> ids, std::vector<std::string> gone);
  void record(std::string algorithm, const boost::json::value& state,
              const boost::json::value& decision);
  ctrl::Async<void> work();
  [[nodiscard]] std::string shown(const std::string& id) const;

  // balancer_moves.cpp
  void follow_moves();
  [[nodiscard]] bool is_busy() const;
  [[nodiscard]] std::vector<policy::Worker> workers(const std::string& container,
                                                    bool is_leaving) const;
  [[nodiscard]] std::optional<std::string> next_request();
  [[nodiscard]] std::optional<std::string> next_to_leave() const;
  ctrl::Async<bool> speculate_one();
  ctrl::Async<bool> drain_one();
  ctrl::Async<Result<std::string>> send_away(std::string container, std::string target,
                                             Cause cause);
  void take_failure(const Begun& move, const std::string& why);

  // balancer_rebalance.cpp
  [[nodiscard]] std::vector<balance::Member> members() const;
  [[nodiscard]] balance::Member coordinator() const;
  [[nodiscard]] bool follows(const std::string& id) const;
  [[nodiscard]] balance::HostReport own_report() const;
  ctrl::Async<GatheringPtr> gather();
  ctrl::Async<void> ask_for_report(GatheringPtr gathering, Neighbour neighbour);
  ctrl::Async<Rebalancing> rebalance(bool is_asked_for, bool is_dry);
  [[nodiscard]] Result<Plan> plan(const std::vector<balance::HostReport>& reports,
                                  bool is_asked_for) const;
  [[nodiscard]] const char* obstacle(const std::string& container, Cause cause) const;
  ctrl::Async<Outcome> order(policy::Move move, Cause cause,
                             std::shared_ptr<const std::string> state);

  // balancer_answers.cpp
  ctrl::Async<ctrl::api::Response> show_cluster();
  ctrl::Async<ctrl::api::Response> rebalance_for_person(std::string body);
  ctrl::Async<ctrl::api::Response> rebalance_here(std::string body);
  void record_order(Cause cause, const boost::json::value& said);
  ctrl::Async<ctrl::api::Response> take_order(std::string body, std::string id);
  [[nodiscard]] boost::json::array hosts_shown() const;

  ctrl::LocalHost& host_;
  Network& network_;
  Moves& moves_;
  Clock clock_;
  balance::Marks marks_;
  balance::Attempts attempts_;
  std::vector<std::string> requests_;   ///< containers that want to move, in order
  std::map<std::string, Begun> begun_;  ///< by the move's id
  balance::Attempts barred_;            ///< containers of all hosts whose rebalancing failed
  double next_round_ = 0;               ///< steady
  /// By host, when balance was last asked; empty: it is to be asked again.
  std::map<std::string, std::int64_t> decided_counts_;
  double next_balance_ = 0;  ///< steady; not before
  bool is_begun_ = false;
  bool is_ended_ = false;
  bool is_working_ = false;
  bool is_beginning_ = false;  ///< a move is being begun
  bool is_rebalancing_due_ = false;
  bool was_draining_ = false;
  std::string record_problem_;
  ctrl::log::Repeated silences_;
};

}  // namespace flowcon::cluster
