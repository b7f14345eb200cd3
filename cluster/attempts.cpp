// SPDX-License-Identifier: Apache-2.0
#include "cluster/attempts.h"

namespace flowcon::cluster {

void Attempts::fail(const std::string& container, const std::string& target, double now,
                    double wait) {
  // More containers than a host ever has at once: those of old are over.
  constexpr std::size_t kMostRemembered = 4096;
  if (all_.size() >= kMostRemembered && all_.count(container) == 0) all_.erase(all_.begin());
  Entry& entry = all_[container];
  entry.again = now + wait * static_cast<double>(1 << entry.failures);
  if (entry.failures < kMost) ++entry.failures;
  entry.targets.insert(target);
}

bool Attempts::may_try(const std::string& container, double now) const {
  const auto found = all_.find(container);
  return found == all_.end() || (found->second.failures < kMost && now >= found->second.again);
}

bool Attempts::is_exhausted(const std::string& container) const {
  const auto found = all_.find(container);
  return found != all_.end() && found->second.failures >= kMost;
}

bool Attempts::is_refused(const std::string& container, const std::string& target) const {
  const auto found = all_.find(container);
  return found != all_.end() && found->second.targets.count(target) > 0;
}

}  // namespace flowcon::cluster
