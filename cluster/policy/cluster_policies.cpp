// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/cluster_policies.h"

#include "cluster/policy/balance.h"
#include "cluster/policy/specon.h"

namespace flowcon::cluster::policy {
namespace {

template <class Policy>
std::unique_ptr<ClusterPolicy> make(const ClusterOptions& options, Categories& categories) {
  return std::make_unique<Policy>(options, categories);
}

std::vector<ClusterPolicyKind>& registry() {
  static std::vector<ClusterPolicyKind> kinds{
      {"specon", "converged ones, as published", RebalanceState::kAlgorithm, "free", make<Specon>},
      {"balance", "by remaining work", SteerState::kAlgorithm, "milestone", make<Balance>},
  };
  return kinds;
}

}  // namespace

const std::vector<ClusterPolicyKind>& cluster_policies() { return registry(); }

const ClusterPolicyKind* find_cluster_policy(std::string_view name) {
  for (const ClusterPolicyKind& kind : registry()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

void add_cluster_policy(ClusterPolicyKind kind) { registry().push_back(std::move(kind)); }

}  // namespace flowcon::cluster::policy
