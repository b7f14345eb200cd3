// SPDX-License-Identifier: Apache-2.0
// Parts of the sentences that explain decisions. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "ctrl/policy/explain.h"

namespace flowcon::cluster::policy {

using ctrl::policy::About;
using ctrl::policy::rounded;

/// "1 worker", "2 workers".
inline std::string counted(std::int64_t count, const std::string& what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

inline std::string host_name(const About& about, const std::string& id) {
  return about.host_name ? about.host_name(id) : id;
}

/// The item of that id, or the end.
template <class Items>
auto find(const Items& items, const std::string& id) {
  return std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.id == id; });
}

}  // namespace flowcon::cluster::policy
