// SPDX-License-Identifier: Apache-2.0
// Single tasks on single nodes, for policies that place one after the other.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/random.h"
#include "sim/groups/world.h"

namespace flowcon::sim::groups {

/// The nodes with room for a task, as listed.
[[nodiscard]] std::vector<std::size_t> fitting_nodes(const std::vector<PlaceNode>& nodes,
                                                     const Amounts& request);

/// A task takes its amounts of a node.
void use(PlaceNode& node, const Amounts& request);

/// Any order, each with the same chance.
template <class Item>
void shuffle(std::vector<Item>& items, Random& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

}  // namespace flowcon::sim::groups
