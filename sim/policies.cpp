// SPDX-License-Identifier: Apache-2.0
// The policies by name.
#include "base/text.h"
#include "sim/cluster_policies.h"
#include "sim/flowcon_policy.h"
#include "sim/milestone_policy.h"
#include "sim/oracles.h"
#include "sim/policy.h"

namespace flowcon::sim {
namespace {

template <class Make>
PolicySet on_each_host(const Schedule& schedule, Make make) {
  PolicySet set;
  for (std::size_t i = 0; i < schedule.hosts.size(); ++i) set.hosts.push_back(make());
  return set;
}

PolicySet make_free_set(const Schedule& schedule, const PolicyParameters&) {
  return on_each_host(schedule, [] { return make_free(); });
}

PolicySet make_flowcon_set(const Schedule& schedule, const PolicyParameters& parameters) {
  return on_each_host(schedule, [&] { return make_paper_flowcon(parameters); });
}

PolicySet make_weight_set(const Schedule& schedule, const PolicyParameters& parameters) {
  return on_each_host(schedule, [&] { return make_flowcon(parameters, {}); });
}

PolicySet make_milestone_set(const Schedule& schedule, const PolicyParameters& parameters) {
  return on_each_host(schedule, [&] { return make_milestone(schedule, parameters); });
}

PolicySet make_specon_set(const Schedule& schedule, const PolicyParameters& parameters) {
  PolicySet set = make_free_set(schedule, parameters);
  set.cluster = make_specon(parameters);
  return set;
}

PolicySet make_balance_set(const Schedule& schedule, const PolicyParameters& parameters) {
  PolicySet set;
  std::vector<const MilestoneHost*> hosts;
  for (std::size_t i = 0; i < schedule.hosts.size(); ++i) {
    auto host = make_milestone(schedule, parameters);
    hosts.push_back(host.get());
    set.hosts.push_back(std::move(host));
  }
  set.cluster = make_balance(std::move(hosts), parameters);
  return set;
}

PolicySet make_srpt_set(const Schedule& schedule, const PolicyParameters&) {
  return on_each_host(schedule, [&] { return make_srpt(schedule); });
}

PolicySet make_oracle_set(const Schedule& schedule, const PolicyParameters&) {
  return on_each_host(schedule, [&] { return make_milestone_oracle(schedule); });
}

}  // namespace

const std::vector<PolicyKind>& policies() {
  static const std::vector<PolicyKind> kPolicies{
      {"free", "every job alike, as without us", false, make_free_set},
      {"flowcon", "FlowCon as published: limits are caps", false, make_flowcon_set},
      {"flowcon-weight", "FlowCon as flowcond does it: limits are weights", false, make_weight_set},
      {"milestone", "ours: the job that is nearest to a milestone first", false,
       make_milestone_set},
      {"specon", "SpeCon between hosts, every job alike on each", false, make_specon_set},
      {"balance", "ours between hosts: by the work that is left; milestone on each", false,
       make_balance_set},
      {"srpt", "oracle: least work left first", true, make_srpt_set},
      {"milestone-oracle", "oracle: nearest milestone first", true, make_oracle_set},
  };
  return kPolicies;
}

Result<const PolicyKind*> find_policy(std::string_view name) {
  std::string known;
  for (const PolicyKind& kind : policies()) {
    if (kind.name == name) return &kind;
    known += (known.empty() ? "" : ", ") + std::string(kind.name);
  }
  return bad_input("there is no policy " + printable(name, 60) + "; known: " + known);
}

}  // namespace flowcon::sim
