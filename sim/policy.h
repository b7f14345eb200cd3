// SPDX-License-Identifier: Apache-2.0
// The interface between the engine and policies. A policy is made of a Beginning and gets a
// SimHost or SimCluster, so it cannot see the future; only an oracle is made of the schedule.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "ctrl/policy/cluster_options.h"
#include "ctrl/policy/host_options.h"
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

struct HostGrants {
  std::vector<Grant> grants;  ///< in the order of the view's jobs
  double next = kNever;       ///< seconds until the host wants to decide again, if nothing happens
};

/// Divides one host. One object a host; it lives as long as the run.
class HostDriver {
 public:
  virtual ~HostDriver() = default;
  /// Called when a job came or went, and when `next` is over.
  virtual HostGrants decide(const SimHost& view) = 0;
  /// A job ended by itself; `is_complete`: with exit status 0.
  virtual void end(const Known& job, double now, bool is_complete) {
    (void)job, (void)now, (void)is_complete;
  }
};

struct JobMove {
  std::size_t job = 0;  ///< Known::number
  std::size_t to = 0;   ///< SimHost::number
};

struct ClusterMoves {
  std::vector<JobMove> moves;
  double next = kNever;  ///< seconds
};

/// Migrates jobs between hosts.
class ClusterDriver {
 public:
  virtual ~ClusterDriver() = default;
  /// Called when `next` is over and, if wants_changes(), after each arrival, departure and landing.
  virtual ClusterMoves decide(const SimCluster& view) = 0;
  [[nodiscard]] virtual bool wants_changes() const { return false; }
};

/// The parts of a policy for one run.
struct PolicySet {
  std::vector<std::unique_ptr<HostDriver>> hosts;  ///< one a host
  std::unique_ptr<ClusterDriver> cluster;          ///< null: no migrations
};

/// flowcond's options as the papers have them, where flowcond's own defaults are others.
/// SpeCon: the load is evened out only when all have converged.
[[nodiscard]] ctrl::policy::ClusterOptions as_published(ctrl::policy::ClusterOptions options);

/// What the policies are told: options of flowcond, and what else a run may vary.
struct PolicyParameters {
  ctrl::policy::HostOptions host;
  ctrl::policy::ClusterOptions cluster = as_published(ctrl::policy::ClusterOptions());
  ctrl::policy::PlannerParameters planner;
  bool is_quota = false;   ///< shares are caps, as with limit-mode quota; else they are weights
  bool has_memory = true;  ///< ended runs are remembered
};

/// FlowCon: growth from two values, no floor for growing jobs, limits are caps.
[[nodiscard]] PolicyParameters as_published(PolicyParameters parameters);

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
