// SPDX-License-Identifier: Apache-2.0
// What a host reports of its containers to the one that coordinates. Reports come from other
// machines; codec/report_json.h reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/policy/categories.h"

namespace flowcon::cluster::policy {

/// CPU seconds, beyond which a report is not believed.
inline constexpr double kMostWork = 1e12;

/// Units: ages in seconds, left in CPU seconds, width in cores.
struct JobReport {
  std::string id;
  std::string name;
  Category category = Category::pc;
  std::optional<double> value;
  std::optional<double> converged_age;
  std::optional<double> migrated_age;
  bool rebalanced = false;
  bool movable = false;         ///< its label says how it may be moved
  std::optional<double> left;   ///< expected work to its end; empty: not known
  std::optional<double> width;  ///< that it can use; empty: not known
  std::uint32_t moves = 0;      ///< how often a policy moved it
  bool beginning = false;       ///< it has done nothing yet since it began on its host
  bool queued = false;          ///< a job of the queue, which says where it runs
  bool saves_itself = false;    ///< its labels say how
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
  /// Of its moves, those that keep a job or its data there; a job's task that goes elsewhere does
  /// not. With tasks that have ended there and have yet to go home.
  std::int64_t moves_here = 0;
};

/// What the category state of a container says, the rest still open. Null: nothing is known of it.
/// Units: `now` in seconds on the clock of the state.
[[nodiscard]] JobReport report_of(std::string id, const CategoryState* state, double now);

/// The hosts that do not drain, in order of name, then id: as all that decide see them, whatever
/// the order of the answers. Errors: a container is on two of them.
[[nodiscard]] Result<std::vector<const HostReport*>> in_order(
    const std::vector<HostReport>& reports);

/// The median; of an even number the upper one. Empty: there are none.
[[nodiscard]] std::optional<double> median(std::vector<double> numbers);

}  // namespace flowcon::cluster::policy
