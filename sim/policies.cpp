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
PolicySet on_each(const std::vector<HostSpec>& hosts, Make make) {
  PolicySet set;
  for (const HostSpec& host : hosts) set.hosts.push_back(make(host));
  return set;
}

PolicySet make_free_set(const Beginning& beginning, const PolicyParameters&) {
  return on_each(beginning.hosts, [](const HostSpec&) { return make_free(); });
}

PolicySet make_flowcon_set(const Beginning& beginning, const PolicyParameters& parameters) {
  return on_each(beginning.hosts, [&](const HostSpec&) { return make_paper_flowcon(parameters); });
}

PolicySet make_weight_set(const Beginning& beginning, const PolicyParameters& parameters) {
  return on_each(beginning.hosts, [&](const HostSpec&) { return make_flowcon(parameters, {}); });
}

PolicySet make_milestone_set(const Beginning& beginning, const PolicyParameters& parameters) {
  return on_each(beginning.hosts, [&](const HostSpec& host) {
    return make_milestone(host.cores, beginning.memory, parameters);
  });
}

PolicySet make_specon_set(const Beginning& beginning, const PolicyParameters& parameters) {
  PolicySet set = make_free_set(beginning, parameters);
  set.cluster = make_specon(parameters);
  return set;
}

PolicySet make_balance_set(const Beginning& beginning, const PolicyParameters& parameters) {
  std::vector<const MilestoneHost*> hosts;
  PolicySet set = on_each(beginning.hosts, [&](const HostSpec& spec) {
    auto host = make_milestone(spec.cores, beginning.memory, parameters);
    hosts.push_back(host.get());
    return host;
  });
  set.cluster = make_balance(std::move(hosts), parameters);
  return set;
}

PolicySet make_srpt_set(const Schedule& schedule) {
  return on_each(schedule.hosts, [&](const HostSpec&) { return make_srpt(schedule); });
}

PolicySet make_oracle_set(const Schedule& schedule) {
  return on_each(schedule.hosts, [&](const HostSpec&) { return make_milestone_oracle(schedule); });
}

}  // namespace

PolicySet PolicyKind::make(const Schedule& schedule, const PolicyParameters& parameters) const {
  if (const MakeOracle* oracle = std::get_if<MakeOracle>(&maker)) return (*oracle)(schedule);
  return std::get<MakePolicy>(maker)(beginning_of(schedule), parameters);
}

const std::vector<PolicyKind>& policies() {
  static const std::vector<PolicyKind> kPolicies{
      {"free", "every job alike, as without us", make_free_set},
      {"flowcon", "FlowCon as published: limits are caps", make_flowcon_set},
      {"flowcon-weight", "FlowCon as flowcond does it: limits are weights", make_weight_set},
      {"milestone", "ours: the job that is nearest to a milestone first", make_milestone_set},
      {"specon", "SpeCon between hosts, every job alike on each", make_specon_set},
      {"balance", "ours between hosts: by the work that is left; milestone on each",
       make_balance_set},
      {"srpt", "oracle: least work left first", make_srpt_set},
      {"milestone-oracle", "oracle: nearest milestone first", make_oracle_set},
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
