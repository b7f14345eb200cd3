// SPDX-License-Identifier: Apache-2.0
// The interface between the engine and policies. A policy is made of a Beginning and gets a
// HostView or ClusterView, so it cannot see the future; only an oracle is made of the schedule.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "ctrl/policy/host_policy.h"
#include "sim/beginning.h"
#include "sim/job.h"
#include "sim/known.h"

namespace flowcon::sim {

/// The effective share of one job: its weight among the others, and its cap as a share of the host
/// (1 = none).
struct Grant {
  double weight = 1;
  double quota = 1;
};

inline constexpr double kNever = std::numeric_limits<double>::infinity();

struct HostDecision {
  std::vector<Grant> grants;  ///< in the order of the view's jobs
  double next = kNever;       ///< seconds until the host wants to decide again, if nothing happens
};

/// Divides one host. One object a host; it lives as long as the run.
class HostPolicy {
 public:
  virtual ~HostPolicy() = default;
  /// Called when a job came or went, and when `next` is over.
  virtual HostDecision decide(const HostView& view) = 0;
  /// A job ended by itself; `is_complete`: with exit status 0.
  virtual void end(const Known& job, double now, bool is_complete) {
    (void)job, (void)now, (void)is_complete;
  }
};

struct MoveOrder {
  std::size_t job = 0;  ///< Known::number
  std::size_t to = 0;   ///< HostView::number
};

struct ClusterDecision {
  std::vector<MoveOrder> moves;
  double next = kNever;  ///< seconds
};

/// Migrates jobs between hosts.
class ClusterPolicy {
 public:
  virtual ~ClusterPolicy() = default;
  /// Called when `next` is over and, if wants_changes(), after each arrival, departure and landing.
  virtual ClusterDecision decide(const ClusterView& view) = 0;
  [[nodiscard]] virtual bool wants_changes() const { return false; }
};

/// The parts of a policy for one run.
struct PolicySet {
  std::vector<std::unique_ptr<HostPolicy>> hosts;  ///< one a host
  std::unique_ptr<ClusterPolicy> cluster;          ///< null: no migrations
};

/// Options of the policies. Units: as the options of flowcond.
struct PolicyParameters {
  double alpha = 0.03;
  double beta = 2;
  double interval = 20;
  double interval_max = 320;
  double observe = 5;
  double categorise_interval = 30;
  double categorise_alpha = 0.01;
  bool rebalance_idle = false;  ///< SpeCon also rebalances whenever a host idles, as flowcond does
  std::uint32_t max_moves = 2;  ///< of one job, for the balancing policy
  bool has_memory = true;       ///< ended runs are remembered
  ctrl::policy::PlannerParameters planner;
};

/// A policy for one run, made of the daemons' knowledge at its beginning.
using MakePolicy =
    std::function<PolicySet(const Beginning& beginning, const PolicyParameters& parameters)>;
/// An oracle for one run, made of the schedule, which must outlive it.
using MakeOracle = PolicySet (*)(const Schedule& schedule);

/// A policy by name.
struct PolicyKind {
  PolicyKind(std::string its_name, std::string its_summary, MakePolicy its_maker)
      : name(std::move(its_name)), summary(std::move(its_summary)), maker(std::move(its_maker)) {}
  PolicyKind(std::string its_name, std::string its_summary, MakeOracle its_maker)
      : name(std::move(its_name)),
        summary(std::move(its_summary)),
        is_oracle(true),
        maker(its_maker) {}

  std::string name;
  std::string summary;
  bool is_oracle = false;  ///< it gets the schedule
  std::variant<MakePolicy, MakeOracle> maker;

  /// For one run of the schedule, which must outlive it.
  [[nodiscard]] PolicySet make(const Schedule& schedule, const PolicyParameters& parameters) const;
};

[[nodiscard]] const std::vector<PolicyKind>& policies();
/// Those of one host but the oracles, with commas.
[[nodiscard]] std::string default_policies();

/// Errors: no such policy; the sentence names all.
[[nodiscard]] Result<const PolicyKind*> find_policy(std::string_view name);

}  // namespace flowcon::sim
