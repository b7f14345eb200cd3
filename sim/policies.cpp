// SPDX-License-Identifier: Apache-2.0
// The policies by name.
#include <algorithm>

#include "base/text.h"
#include "sim/drive_cluster.h"
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

enum class Variant { of_flowcond, as_published };

// A policy of flowcond, the same on each host.
PolicyKind on_hosts(std::string name, std::string summary, std::string policy,
                    Variant variant = Variant::of_flowcond) {
  return {std::move(name), std::move(summary),
          [policy, variant](const Beginning& beginning, const PolicyParameters& said) {
            const bool is_published = variant == Variant::as_published;
            const PolicyParameters parameters = is_published ? as_published(said) : said;
            return on_each(beginning.hosts, [&](const HostSpec& host) {
              return drive(policy, host.cores, beginning.memory, parameters);
            });
          }};
}

// A policy of flowcond between hosts, on hosts that are divided by the one that it is meant for.
PolicyKind between_hosts(const cluster::policy::ClusterPolicyKind& kind) {
  const auto make = [kind](const Beginning& beginning, const PolicyParameters& parameters) {
    std::vector<const ForecastingHost*> hosts;
    PolicySet set = on_each(beginning.hosts, [&](const HostSpec& spec) {
      auto host = drive(kind.host_policy, spec.cores, beginning.memory, parameters);
      hosts.push_back(host.get());
      return host;
    });
    set.cluster = drive(kind, hosts, parameters);
    return set;
  };
  return {kind.name, "between hosts: " + kind.summary + "; " + kind.host_policy + " on each", make};
}

PolicySet make_srpt_set(const Schedule& schedule) {
  return on_each(schedule.hosts, [&](const HostSpec&) { return make_srpt(schedule); });
}

PolicySet make_oracle_set(const Schedule& schedule) {
  return on_each(schedule.hosts, [&](const HostSpec&) { return make_milestone_oracle(schedule); });
}

// Published FlowCon has the plain name, flowcond's variant another one.
std::vector<PolicyKind> host_policies() {
  std::vector<PolicyKind> all;
  all.push_back(on_hosts("free", "every job equally, as without flowcond", "free"));
  all.push_back(on_hosts("flowcon", "FlowCon as published: limits are caps", "flowcon",
                         Variant::as_published));
  all.push_back(
      on_hosts("flowcon-weight", "FlowCon as flowcond does it: limits are weights", "flowcon"));
  for (const ctrl::policy::HostPolicyKind& kind : ctrl::policy::host_policies()) {
    const bool is_there = std::any_of(all.begin(), all.end(),
                                      [&](const PolicyKind& one) { return one.name == kind.name; });
    if (is_there) continue;
    all.push_back(on_hosts(kind.name, kind.summary, kind.name));
  }
  return all;
}

std::vector<PolicyKind> all_policies() {
  std::vector<PolicyKind> all = host_policies();
  for (const cluster::policy::ClusterPolicyKind& kind : cluster::policy::cluster_policies()) {
    all.push_back(between_hosts(kind));
  }
  all.push_back({"srpt", "oracle: shortest remaining work first", make_srpt_set});
  all.push_back({"milestone-oracle", "oracle: nearest milestone first", make_oracle_set});
  return all;
}

}  // namespace

ctrl::policy::ClusterOptions as_published(ctrl::policy::ClusterOptions options) {
  options.rebalance_idle = false;
  return options;
}

PolicyParameters as_published(PolicyParameters parameters) {
  parameters.host.growth.estimator = ctrl::growth::Estimator::paper;
  parameters.host.growth.directed = false;
  parameters.host.floor_all = false;
  parameters.is_quota = true;
  return parameters;
}

PolicySet PolicyKind::make(const Schedule& schedule, const PolicyParameters& parameters) const {
  if (const MakeOracle* oracle = std::get_if<MakeOracle>(&maker)) return (*oracle)(schedule);
  return std::get<MakePolicy>(maker)(beginning_of(schedule), parameters);
}

const std::vector<PolicyKind>& policies() {
  static const std::vector<PolicyKind> kPolicies = all_policies();
  return kPolicies;
}

std::string default_policies() { return joined(host_policies(), ",", &PolicyKind::name); }

Result<const PolicyKind*> find_policy(std::string_view name) {
  for (const PolicyKind& kind : policies()) {
    if (kind.name == name) return &kind;
  }
  return bad_input("there is no policy " + printable(name, 60) +
                   "; known: " + joined(policies(), ", ", &PolicyKind::name));
}

}  // namespace flowcon::sim
