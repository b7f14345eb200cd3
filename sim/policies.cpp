// SPDX-License-Identifier: Apache-2.0
// The policies by name.
#include "base/text.h"
#include "sim/cluster_policies.h"
#include "sim/drive.h"
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

// A policy of flowcond, the same on each host.
PolicyKind on_hosts(std::string name, std::string summary, std::string policy,
                    const HostOptions& options = {}) {
  return {std::move(name), std::move(summary),
          [policy, options](const Beginning& beginning, const PolicyParameters& parameters) {
            return on_each(beginning.hosts, [&](const HostSpec& host) {
              return drive(policy, host.cores, beginning.memory, parameters, options);
            });
          }};
}

PolicySet make_specon_set(const Beginning& beginning, const PolicyParameters& parameters) {
  PolicySet set = on_each(beginning.hosts, [&](const HostSpec& host) {
    return drive("free", host.cores, beginning.memory, parameters);
  });
  set.cluster = make_specon(parameters);
  return set;
}

PolicySet make_balance_set(const Beginning& beginning, const PolicyParameters& parameters) {
  std::vector<const ForecastingHost*> hosts;
  PolicySet set = on_each(beginning.hosts, [&](const HostSpec& spec) {
    auto host = drive("milestone", spec.cores, beginning.memory, parameters);
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

// Published FlowCon has the plain name, flowcond's variant another one.
std::vector<PolicyKind> all_policies() {
  std::vector<PolicyKind> all;
  all.push_back(on_hosts("free", "every job equally, as without flowcond", "free"));
  all.push_back(
      on_hosts("flowcon", "FlowCon as published: limits are caps", "flowcon", paper_options()));
  all.push_back(
      on_hosts("flowcon-weight", "FlowCon as flowcond does it: limits are weights", "flowcon"));
  for (const ctrl::policy::HostPolicyKind& kind : ctrl::policy::host_policies()) {
    if (kind.name == "free" || kind.name == "flowcon") continue;
    all.push_back(on_hosts(kind.name, kind.summary, kind.name));
  }
  all.push_back({"specon", "SpeCon between hosts, every job equally on each", make_specon_set});
  all.push_back(
      {"balance", "ours between hosts: by remaining work; milestone on each", make_balance_set});
  all.push_back({"srpt", "oracle: shortest remaining work first", make_srpt_set});
  all.push_back({"milestone-oracle", "oracle: nearest milestone first", make_oracle_set});
  return all;
}

}  // namespace

PolicySet PolicyKind::make(const Schedule& schedule, const PolicyParameters& parameters) const {
  if (const MakeOracle* oracle = std::get_if<MakeOracle>(&maker)) return (*oracle)(schedule);
  return std::get<MakePolicy>(maker)(beginning_of(schedule), parameters);
}

const std::vector<PolicyKind>& policies() {
  static const std::vector<PolicyKind> kPolicies = all_policies();
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
