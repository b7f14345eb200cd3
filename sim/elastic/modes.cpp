// SPDX-License-Identifier: Apache-2.0
#include "sim/elastic/modes.h"

#include <algorithm>

namespace flowcon::sim::elastic {

const std::vector<Mode>& modes() {
  static const std::vector<Mode> kModes{
      {"exact", "the work of each job is known"},
      {"noise", "within 10 %", Estimate::noise},
      {"factor2", "up to twice too much or too little", Estimate::factor2},
      {"factor4", "up to four times", Estimate::factor4},
      {"age", "as much is left as it has had", Estimate::age},
      {"harsh", "noise, 15 % of the jobs fail, 10 % are killed", Estimate::noise, true},
      {"delay", "a job that gets more goes on as before for 15 s", Estimate::exact, false, 15},
  };
  return kModes;
}

const Mode* find_mode(std::string_view name) {
  const auto found = std::find_if(modes().begin(), modes().end(),
                                  [&](const Mode& mode) { return mode.name == name; });
  return found == modes().end() ? nullptr : &*found;
}

Setting with_mode(Setting setting, const Mode& mode) {
  setting.estimate = mode.estimate;
  setting.is_harsh = mode.is_harsh;
  setting.scale_up_seconds = mode.scale_up_seconds;
  return setting;
}

const std::vector<AllocatorKind>& allocators() {
  static const std::vector<AllocatorKind> kAllocators{
      {"greedy", "idle nodes to the queue, then to the youngest jobs", Allocator::greedy},
      {"horizon", "the best plan for the next 25 minutes", Allocator::horizon},
  };
  return kAllocators;
}

const AllocatorKind* find_allocator(std::string_view name) {
  for (const AllocatorKind& known : allocators()) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

std::string_view name(Allocator allocator) {
  for (const AllocatorKind& known : allocators()) {
    if (known.allocator == allocator) return known.name;
  }
  return "";
}

}  // namespace flowcon::sim::elastic
