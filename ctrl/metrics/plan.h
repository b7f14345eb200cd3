// SPDX-License-Identifier: Apache-2.0
// The fast way for lines that have been seen before but for their numbers. A line's shape is its
// text with every free-standing run of digits taken out; two lines of one shape are read alike, so
// what the first one gave (this number is the loss, that one the step) holds for all.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ctrl/metrics/names.h"

namespace flowcon::ctrl::metrics {

struct LineShape {
  static constexpr std::size_t kMaxRuns = 48;
  std::uint64_t hash = 0;
  std::size_t runs = 0;
  std::array<std::uint32_t, kMaxRuns> starts{};  ///< where each run of digits begins
};

/// False where a line cannot be told by its shape: its digits may be part of names ("Acc@1") or
/// group thousands, or there are too many of them.
[[nodiscard]] bool read_shape(std::string_view line, LineShape& shape);

/// A position that moves with the numbers before it: `back` bytes before a run of digits.
struct Anchor {
  std::uint16_t run = 0;
  std::uint16_t back = 0;
};

/// One thing that a line of a shape does.
struct PlanStep {
  enum class Kind : std::uint8_t { value, ratio, counter };
  Kind kind = Kind::value;
  Role role = Role::unknown;
  Anchor at;
  Anchor total;           ///< of a ratio
  std::uint64_t key = 0;  ///< of a counter
};

struct LinePlan {
  std::uint64_t shape = 0;
  bool known = false;
  bool usable = false;       ///< false: lines of this shape go the long way
  bool has_counter = false;  ///< a copy of an earlier record is one
  Anchor text;               ///< where the prefix ends
  std::vector<PlanStep> steps;
};

/// The anchor of position `at` in a line of that shape: the first run of digits at or after it
/// whose distance is fixed text. False where there is none.
[[nodiscard]] bool find_anchor(const LineShape& shape, std::size_t at, Anchor& anchor);

[[nodiscard]] inline std::size_t position_of(const LineShape& shape, Anchor anchor) {
  return shape.starts[anchor.run] - anchor.back;
}

/// A fixed number of plans; a new one takes the place of an old one.
class PlanCache {
 public:
  PlanCache() : plans_(kPlans) {}
  [[nodiscard]] LinePlan& slot(std::uint64_t shape) { return plans_[shape % kPlans]; }

 private:
  static constexpr std::size_t kPlans = 256;
  std::vector<LinePlan> plans_;
};

}  // namespace flowcon::ctrl::metrics
