// SPDX-License-Identifier: Apache-2.0
// The policies that divide a host, by name. Nobody else knows their names.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ctrl/policy/forecaster.h"
#include "ctrl/policy/host_policy.h"

namespace flowcon::ctrl::policy {

/// What decides who gets more of the CPU, for those who show or tune it.
enum class DividesBy {
  nothing,  ///< all have the same
  growth,   ///< growth efficiency: lists, alpha and beta mean something
  work,     ///< the work that is left: shares are of all that there is, and add up to it
};

struct HostPolicyKind {
  std::string name;
  std::string summary;  ///< for the help: "the job first that …"
  DividesBy divides_by = DividesBy::growth;
  /// The forecaster must outlive the policy.
  std::unique_ptr<HostPolicy> (*make)(const HostParameters& parameters, Forecaster& forecaster);
};

[[nodiscard]] const std::vector<HostPolicyKind>& host_policies();
/// Null where there is none of that name.
[[nodiscard]] const HostPolicyKind* find_host_policy(std::string_view name);
/// All of them, with "|" between two.
[[nodiscard]] std::string host_policy_names();
/// Those that divide so, with " and " between two.
[[nodiscard]] std::string host_policy_names(DividesBy divides_by);
/// Of a name that some other version of flowcond may have told: nothing where it is not known.
[[nodiscard]] DividesBy divides_by(std::string_view name);

/// One more, before anybody asks. Tests bring a policy of their own this way.
void add_host_policy(HostPolicyKind kind);

}  // namespace flowcon::ctrl::policy
