// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/run/ways.h"

#include <algorithm>

namespace flowcon::cluster::migration {

void Ways::add(const Entry& entry) {
  if (entry.step != Step::done) return;
  const bool is_return = entry.method == Method::home;
  std::erase_if(done_, [&](const Done& one) {
    const bool is_older = one.side == entry.side && one.way.name == entry.name;
    const bool is_its_birth = is_return && one.way.container == entry.container;
    return is_older || is_its_birth;
  });
  done_.push_back(
      {{entry.container, entry.name, entry.source, entry.target, false}, entry.side, is_return});
  if (done_.size() <= kMostWays) return;
  // Few ask for what came home, and a queue sends home much.
  const auto first =
      std::find_if(done_.begin(), done_.end(), [](const Done& one) { return one.is_return; });
  done_.erase(first == done_.end() ? done_.begin() : first);
}

std::vector<Way> Ways::all() const {
  std::vector<Way> all;
  for (auto one = done_.rbegin(); one != done_.rend(); ++one) all.push_back(one->way);
  return all;
}

}  // namespace flowcon::cluster::migration
