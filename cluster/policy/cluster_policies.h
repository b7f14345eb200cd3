// SPDX-License-Identifier: Apache-2.0
// The policies between hosts, by name. Nobody else knows their names.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/policy/cluster_policy.h"

namespace flowcon::cluster::policy {

struct ClusterPolicyKind {
  std::string name;
  std::string summary;      ///< for the help: which containers migrate
  Cause cause;              ///< of its plans' moves; no two policies have the same
  std::string host_policy;  ///< that the simulator puts on each host beside it
  /// What is known of the host's containers is kept by the caller, whatever the policy, and must
  /// outlive it.
  std::unique_ptr<ClusterPolicy> (*make)(const ClusterOptions& options, Categories& categories);
};

[[nodiscard]] const std::vector<ClusterPolicyKind>& cluster_policies();
/// Null where there is none of that name.
[[nodiscard]] const ClusterPolicyKind* find_cluster_policy(std::string_view name);

/// One more, before anybody asks. Tests bring a policy of their own this way.
void add_cluster_policy(ClusterPolicyKind kind);

}  // namespace flowcon::cluster::policy
