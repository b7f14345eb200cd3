// SPDX-License-Identifier: Apache-2.0
// Every decision of the product by name: those of one host, and those between hosts.
#pragma once

#include <string_view>
#include <vector>

#include "ctrl/policy/algorithm.h"

namespace flowcon::cluster::policy {

/// In the order of the help.
[[nodiscard]] const std::vector<ctrl::policy::Algorithm>& algorithms();

/// The one of that name, or null.
[[nodiscard]] inline const ctrl::policy::Algorithm* find_algorithm(std::string_view name) {
  return ctrl::policy::find_algorithm(algorithms(), name);
}

}  // namespace flowcon::cluster::policy
