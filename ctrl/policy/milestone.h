// SPDX-License-Identifier: Apache-2.0
// The milestone policy: the job that is nearest to something worth having goes first. A training is
// worth something when its model is usable (90 % of its improvement) and again when it ends. A pure
// function: no clock, no I/O, no logging. The daemon and the simulator call this very one.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace flowcon::ctrl::policy {

/// One job as it is ranked. Units: CPU seconds, cores, seconds.
struct MilestoneMember {
  std::string id;
  double left = 1;               ///< expected work to its end, above 0
  std::optional<double> left90;  ///< expected work per chance to 90 % of its improvement; empty:
                                 ///< not known
  double open90 = 1;             ///< the chance that 90 % are still to come, 0..1
  bool is_blind = false;         ///< its end is unknown: left is as much as it has used
  double trust = 1;              ///< the chance that `left` is right, above 0
  /// What says how much is left, a name of metrics::TotalFrom or growth::Basis; "" = not recorded.
  /// For people; nothing is decided by it.
  std::string from;
  std::optional<double> width;  ///< parallelism: cores that it can use; empty: all
  /// Until when it is to end, from now on: when it would have ended had all shared alike, and what
  /// it may be late. Below 0: it is late.
  std::optional<double> due;
  double span = 1;  ///< baseline runtime: seconds from start to end then, above 0; unit of lateness
  std::optional<std::size_t> before;  ///< its rank after the last decision
  std::optional<double> share;        ///< its share then; reported, nothing is decided by it
};

struct MilestoneState {
  static constexpr const char* kAlgorithm = "milestone";

  double cores = 1;
  double worth = 0.85;    ///< q: what a usable model is worth, where its end is worth 1
  double step = 8;        ///< each rank weighs so many times the next one
  double floor = 0.02;    ///< share of the host that all have in equal parts
  double critical = 0.9;  ///< see decide_milestone()
  /// Hysteresis: a key must be so much better to go from last to first; over fewer ranks, less.
  double inertia = 0.15;
  std::vector<MilestoneMember> members;
};

/// A job's place. `share` is of the host, in (0,1]; all add up to 1.
struct Ranked {
  std::string id;
  std::size_t rank = 0;  ///< 0 goes first
  double share = 1;
  double key = 0;  ///< CPU seconds per worth
};

struct MilestoneDecision {
  std::vector<Ranked> members;  ///< in the order of the state
};

/// The key of a job is the work per worth of the milestone that is nearest by that measure:
///     min(left90 / q, left / trust / (1 + q * open90))
/// Ranks, from the last to the first (Smith's backward rule): of the jobs that would not be late if
/// they ended when all are done, the one with the greatest key is last; where all would be late,
/// the one that would be so by the fewest baseline runtimes (Lawler's rule). Before all of them:
/// narrow jobs (that cannot use the whole host) whose own remaining length is at least `critical`
/// of the time the host needs for all, the longest first, unless on the cores that they leave
/// somebody would be late, by more than anybody without that. Shares: floor/n and the rest as
/// step^-rank. A job of which nothing is known but what it has used is as near to its end as it is
/// to its beginning, so a newcomer goes first without a rule of its own, and what is known of the
/// others limits for how long. O(n^2) in the number of jobs; the same state gives the same bits.
/// Source: ours; Smith 1956 for the order under due dates, Lawler 1973 for the least of the
/// greatest lateness; docs/simulator.md.
[[nodiscard]] MilestoneDecision decide_milestone(const MilestoneState& state);

}  // namespace flowcon::ctrl::policy
