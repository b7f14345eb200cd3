// SPDX-License-Identifier: Apache-2.0
// The variants of the elastic experiment by name.
#pragma once

#include <string_view>
#include <vector>

#include "sim/elastic/elastic.h"

namespace flowcon::sim::elastic {

/// What it changes of a setting.
struct Mode {
  std::string_view name;
  std::string_view summary;
  Estimate estimate = Estimate::exact;
  bool is_harsh = false;
  double scale_up_seconds = 0;
};

/// In the order of the help.
[[nodiscard]] const std::vector<Mode>& modes();

/// Null where there is no such mode.
[[nodiscard]] const Mode* find_mode(std::string_view name);
[[nodiscard]] Setting with_mode(Setting setting, const Mode& mode);

[[nodiscard]] constexpr std::string_view name(Allocator allocator) {
  return allocator == Allocator::greedy ? "greedy" : "horizon";
}

}  // namespace flowcon::sim::elastic
