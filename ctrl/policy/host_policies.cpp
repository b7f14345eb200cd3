// SPDX-License-Identifier: Apache-2.0
#include "ctrl/policy/host_policies.h"

#include "base/text.h"
#include "ctrl/policy/flowcon.h"
#include "ctrl/policy/free.h"
#include "ctrl/policy/milestone_policy.h"

namespace flowcon::ctrl::policy {
namespace {

std::vector<HostPolicyKind>& registry() {
  static std::vector<HostPolicyKind> kinds{
      {"flowcon", "by growth efficiency, as published", DividesBy::growth,
       [](const HostParameters& parameters, Forecaster&) -> std::unique_ptr<HostPolicy> {
         return std::make_unique<Flowcon>(parameters);
       }},
      {"milestone", "first the job nearest to a usable model or to its end", DividesBy::work,
       [](const HostParameters& parameters, Forecaster& forecaster) -> std::unique_ptr<HostPolicy> {
         return std::make_unique<MilestonePolicy>(parameters, forecaster);
       }},
      {"free", "all jobs alike, as without flowcond", DividesBy::nothing,
       [](const HostParameters& parameters, Forecaster&) -> std::unique_ptr<HostPolicy> {
         return std::make_unique<Free>(parameters);
       }},
  };
  return kinds;
}

}  // namespace

const std::vector<HostPolicyKind>& host_policies() { return registry(); }

const HostPolicyKind* find_host_policy(std::string_view name) {
  for (const HostPolicyKind& kind : registry()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

std::string host_policy_names() { return joined(registry(), "|", &HostPolicyKind::name); }

std::string host_policy_names(DividesBy divides_by) {
  std::string names;
  for (const HostPolicyKind& kind : registry()) {
    if (kind.divides_by == divides_by) names += (names.empty() ? "" : " and ") + kind.name;
  }
  return names;
}

DividesBy divides_by(std::string_view name) {
  const HostPolicyKind* kind = find_host_policy(name);
  return kind == nullptr ? DividesBy::nothing : kind->divides_by;
}

void add_host_policy(HostPolicyKind kind) { registry().push_back(std::move(kind)); }

}  // namespace flowcon::ctrl::policy
