// SPDX-License-Identifier: Apache-2.0
#include "sim/groups/tasks.h"

#include <algorithm>

namespace flowcon::sim::groups {

using cluster::policy::amount_of;

std::vector<std::size_t> fitting_nodes(const std::vector<PlaceNode>& nodes,
                                       const Amounts& request) {
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool fits = std::all_of(request.begin(), request.end(), [&](const auto& each) {
      const auto& [kind, amount] = each;
      return !(amount > 0) ||
             amount_of(nodes[i].used, kind) + amount <= amount_of(nodes[i].cap, kind) + 1e-9;
    });
    if (fits) fitting.push_back(i);
  }
  return fitting;
}

void use(PlaceNode& node, const Amounts& request) {
  for (const auto& [kind, amount] : request) {
    const auto at =
        std::find_if(node.used.begin(), node.used.end(),
                     [&, &name = kind](const auto& each) { return each.first == name; });
    if (at == node.used.end()) {
      node.used.emplace_back(kind, amount);
    } else {
      at->second += amount;
    }
  }
}

}  // namespace flowcon::sim::groups
