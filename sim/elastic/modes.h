// SPDX-License-Identifier: Apache-2.0
// The registry of the elastic experiment: its allocators and its variants by name.
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

struct AllocatorKind {
  std::string_view name;
  std::string_view summary;
  Allocator allocator = Allocator::greedy;
};

/// In the order of the help.
[[nodiscard]] const std::vector<AllocatorKind>& allocators();

/// Null where there is no such allocator.
[[nodiscard]] const AllocatorKind* find_allocator(std::string_view name);
[[nodiscard]] std::string_view name(Allocator allocator);

}  // namespace flowcon::sim::elastic
