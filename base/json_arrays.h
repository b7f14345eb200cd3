// SPDX-License-Identifier: Apache-2.0
// Lists as arrays of JSON.
#pragma once

#include <boost/json/array.hpp>
#include <string>
#include <vector>

namespace flowcon {

/// An array of what render(item) makes of each.
template <class Items, class Render>
boost::json::array rendered(const Items& items, Render render) {
  boost::json::array array;
  array.reserve(items.size());
  for (const auto& item : items) array.emplace_back(render(item));
  return array;
}

/// An array of strings.
inline boost::json::array texts(const std::vector<std::string>& from) {
  return boost::json::array(from.begin(), from.end());
}

}  // namespace flowcon
