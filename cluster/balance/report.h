// SPDX-License-Identifier: Apache-2.0
// What a host tells the coordinator of its containers (GET /v1/peer/jobs), and what Algorithm 5, or
// steer, is asked with it. Pure. Reports come from other machines.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/policy/category.h"
#include "cluster/policy/rebalance.h"
#include "cluster/policy/steer.h"

namespace flowcon::cluster::balance {

/// CPU seconds, beyond which a report is not believed.
inline constexpr double kMostWork = 1e12;

/// Units: ages in seconds, left in CPU seconds, width in cores.
struct JobReport {
  std::string id;
  std::string name;
  policy::Category category = policy::Category::pc;
  std::optional<double> value;
  std::optional<double> converged_age;
  std::optional<double> migrated_age;
  bool rebalanced = false;
  bool movable = false;         ///< its label says how it may be moved
  std::optional<double> left;   ///< expected work to its end; empty: not known
  std::optional<double> width;  ///< that it can use; empty: not known
  std::uint32_t moves = 0;      ///< how often a policy moved it
  bool beginning = false;       ///< it has done nothing yet since it began on its host
};

struct HostReport {
  std::string id;
  std::string name;
  bool draining = false;
  std::int64_t moves = 0;  ///< under way, from or to it
  std::vector<JobReport> containers;
  double cores = 1;
  /// How long containers stood still that were moved from here, the median; empty: none was.
  std::optional<double> move_seconds;
};

/// {"id","name","draining","moves","cores","move_seconds","containers":[{"id","name","category",
/// "value","converged_age","migrated_age","rebalanced","movable","left","width","moves",
/// "beginning"}]}
[[nodiscard]] std::string render_report(const HostReport& report);
/// Unknown members are ignored. Errors: not JSON, a member that is missing or out of its range, an
/// id that is there twice or no engine's, more than 10,000 containers; the sentence names it.
[[nodiscard]] Result<HostReport> parse_report(std::string_view text);

/// The median; of an even number the upper one. Empty: there are none.
[[nodiscard]] std::optional<double> median(std::vector<double> numbers);

/// Who is asked about rebalancing.
struct Member {
  std::string name;
  std::string id;
};
/// The lowest name, then id. `members` has at least one.
[[nodiscard]] const Member& coordinator_of(const std::vector<Member>& members);

struct RebalanceQuestion {
  policy::RebalanceState state;
  bool is_due = false;
};

/// What Algorithm 5 is to decide: hosts in order of name, then id; draining ones give away what
/// they have themselves and are none. Containers that may not be moved, or that `is_barred` (their
/// last tries failed), count and are no candidates: they have no timestamps. Errors: a container is
/// on two hosts.
[[nodiscard]] Result<RebalanceQuestion> rebalance_question(
    std::vector<HostReport> reports, bool when_idle,
    const std::function<bool(const std::string& container)>& is_barred);

/// What steer is to decide: hosts and candidates as for Algorithm 5. What nobody knows the work of
/// counts as the median of all, and stays. A move costs the median of what hosts measured. Errors:
/// a container is on two hosts, or a host has more than 1,000 containers; the sentence names it.
[[nodiscard]] Result<policy::SteerState> steer_question(
    std::vector<HostReport> reports, std::uint32_t max_moves,
    const std::function<bool(const std::string& container)>& is_barred);

}  // namespace flowcon::cluster::balance
