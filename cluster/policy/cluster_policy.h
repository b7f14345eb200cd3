// SPDX-License-Identifier: Apache-2.0
// What moves containers between hosts. A policy is one object on each host: it is shown what a
// daemon sees, says who asks to leave and where to, plans for all hosts where its own one
// coordinates, and says why. The daemon and the simulator drive the same object. Pure: time is
// handed in.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/policy/categories.h"
#include "cluster/policy/cause.h"
#include "cluster/policy/rebalance.h"
#include "cluster/policy/report.h"
#include "cluster/policy/speculate.h"
#include "ctrl/policy/cluster_options.h"
#include "ctrl/policy/host_policy.h"

namespace flowcon::cluster::policy {

using ctrl::policy::ClusterOptions;
using ctrl::policy::Rounds;

/// All hosts, as they report, at a decision about moves.
struct ClusterView {
  std::vector<HostReport> hosts;
  /// The last migrations of this container failed: it counts, and is not migrated until its time to
  /// wait is over.
  std::function<bool(const std::string& container)> is_barred;
  bool is_asked_for = false;  ///< by a person, whether it is due or not
};

/// What Algorithm 5 went by.
struct Evenness {
  std::int64_t balance_factor = 0;  ///< as RebalanceDecision::balance_factor
  Branch branch = Branch::uneven;
};

struct Plan {
  bool is_due = false;  ///< it would have been decided without being asked for
  std::vector<Move> moves;
  std::optional<Evenness> evenness = {};  ///< empty: it was not decided by such numbers
};

/// Where a container goes.
struct Destination {
  std::string host;
  Cause cause;
};

/// Moves containers between hosts. Units: `now` in seconds on the steady clock of its host.
class ClusterPolicy {
 public:
  virtual ~ClusterPolicy() = default;

  /// Other options hold from now on.
  virtual void configure(const ClusterOptions& options) = 0;

  /// A round, each categorise-interval, over the containers of this host. Those that ask to leave,
  /// in order. `rounds`, here and below, takes what is to be recorded; null: nobody records.
  virtual std::vector<std::string> observe(const std::vector<Observed>& containers, double now,
                                           Rounds* rounds) = 0;
  /// Does one that asked still want to?
  [[nodiscard]] virtual bool wants_to_leave(const std::string& id) const = 0;
  /// Where a container goes that asked, or whose host drains. Empty: it stays.
  virtual std::optional<Destination> choose(const SpeculateState& state, double now,
                                            Rounds* rounds) = 0;

  /// Where this host coordinates: what is to be moved. Errors: the reports contradict each other;
  /// in words.
  virtual Result<Plan> plan(const ClusterView& view, Rounds* rounds) = 0;
  /// Is plan() also asked soon after a container came or went, on whichever host?
  [[nodiscard]] virtual bool wants_changes() const { return false; }
  /// Why a container of this host does not follow a plan, whoever made it; null where it does.
  [[nodiscard]] virtual const char* objection(const JobReport& container) const = 0;

  /// The state of a container that was moved here for `cause`, as it is after that.
  virtual void land(CategoryState& state, const Cause& cause, double now) const {
    (void)now;
    if (is_by_policy(cause) && state.moves < kMostMoves) ++state.moves;
  }
};

}  // namespace flowcon::cluster::policy
