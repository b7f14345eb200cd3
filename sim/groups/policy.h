// SPDX-License-Identifier: Apache-2.0
// Who runs where, decided by a policy that sees what a coordinator would: jobs that have come,
// never their work or those to come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/groups/world.h"

namespace flowcon::sim::groups {

/// A job that has come and has not ended. Units: seconds.
struct KnownJob {
  std::size_t number = 0;  ///< in the schedule: the order in which they came
  std::string_view id;
  double since = 0;   ///< when it came
  double waited = 0;  ///< without any task, in all
  double served = 0;  ///< that its work so far takes at `max` workers on one node
  /// The same of the work that is left; only where it has a counter and the policy is told.
  std::optional<double> left;
  std::int64_t min = 1;
  std::int64_t max = 1;
  std::int64_t ps = 1;
  const Amounts* worker_request = nullptr;
  const Amounts* ps_request = nullptr;
  Placement placed;  ///< empty: it waits
};

struct GroupView {
  double now = 0;
  double starve_limit = 0;
  double pause = 0;              ///< seconds that a resized job stands still
  std::vector<PlaceNode> nodes;  ///< `used`: by what is placed
  std::vector<KnownJob> jobs;    ///< in the order in which they came
};

/// All tasks of a job from now on; none: it is put back into the queue.
struct GroupChange {
  std::size_t number = 0;
  Placement placed;
};

struct GroupPlan {
  std::vector<GroupChange> changes;  ///< of one job at most one; made at once
  std::optional<double> wake;        ///< when to be asked again even if nothing happens
};

class GroupPolicy {
 public:
  GroupPolicy() = default;
  virtual ~GroupPolicy() = default;
  GroupPolicy(const GroupPolicy&) = delete;
  GroupPolicy& operator=(const GroupPolicy&) = delete;

  /// Asked whenever a job comes or ends.
  [[nodiscard]] virtual GroupPlan decide(const GroupView& view) = 0;
};

/// With which tasks a job works, beside all its parameter servers.
enum class Works {
  gang,   ///< at least `min` workers: it has them all or no task
  any,    ///< one worker
  whole,  ///< `max` workers
};

struct GroupPolicyKind {
  std::string_view name;
  std::string_view summary;
  Works works = Works::gang;
  bool is_told_left = false;  ///< gets KnownJob::left
  std::unique_ptr<GroupPolicy> (*make)(std::uint64_t seed);
};

[[nodiscard]] const std::vector<GroupPolicyKind>& group_policies();

/// Null where there is none of that name.
[[nodiscard]] const GroupPolicyKind* find_group_policy(std::string_view name);

}  // namespace flowcon::sim::groups
