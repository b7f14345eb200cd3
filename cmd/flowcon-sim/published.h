// SPDX-License-Identifier: Apache-2.0
// `flowcon-sim published`: figures of the publications beside those of the simulator.
#pragma once

#include <string>
#include <vector>

#include "cmd/flowcon-sim/simulate.h"

namespace flowcon::sim {

/// `arguments` begin with "published".
[[nodiscard]] Answer print_published(const std::vector<std::string>& arguments, const World& world);

}  // namespace flowcon::sim
