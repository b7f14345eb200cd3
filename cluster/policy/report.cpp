// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/report.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

namespace flowcon::cluster::policy {

JobReport report_of(std::string id, const CategoryState* state, double now) {
  JobReport job;
  job.id = std::move(id);
  if (state == nullptr) return job;
  const auto age = [now](const std::optional<double>& time) {
    return time ? std::optional(std::max(now - *time, 0.0)) : std::nullopt;
  };
  job.category = state->category;
  job.converged_age = age(state->converged);
  job.migrated_age = age(state->migrated);
  job.rebalanced = state->rebalanced;
  job.moves = state->moves;
  return job;
}

Result<std::vector<const HostReport*>> in_order(const std::vector<HostReport>& reports) {
  std::vector<const HostReport*> hosts;
  std::unordered_set<std::string_view> ids;
  for (const HostReport& report : reports) {
    if (report.draining) continue;
    hosts.push_back(&report);
    for (const JobReport& job : report.containers) {
      if (ids.insert(job.id).second) continue;
      return bad_input("two hosts say that they have the container " + job.id.substr(0, 12));
    }
  }
  std::sort(hosts.begin(), hosts.end(), [](const HostReport* a, const HostReport* b) {
    return std::tie(a->name, a->id) < std::tie(b->name, b->id);
  });
  return hosts;
}

std::optional<double> median(std::vector<double> numbers) {
  if (numbers.empty()) return std::nullopt;
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

}  // namespace flowcon::cluster::policy
