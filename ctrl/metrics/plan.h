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

class Series;

/// One thing that a line of a shape does.
struct PlanStep {
  enum class Kind : std::uint8_t { value, ratio, percent, counter };
  Kind kind = Kind::value;
  Role role = Role::unknown;
  bool integer = false;  ///< of a value
  Anchor at;
  Anchor total;              ///< of a ratio
  std::uint64_t key = 0;     ///< of a counter
  Series* series = nullptr;  ///< of a value
};

struct LinePlan {
  std::uint64_t shape = 0;
  bool known = false;
  bool usable = false;  ///< false: lines of this shape go the long way
  bool has_values = false;
  bool has_counter = false;  ///< a copy of an earlier record is one
  Anchor text;               ///< where the prefix ends
  std::vector<PlanStep> steps;
};

/// The anchor of position `at` in a line of that shape: the first run of digits at or after it
/// whose distance is fixed text. False where there is none.
[[nodiscard]] bool find_anchor(const LineShape& shape, std::size_t at, Anchor& anchor);

/// A fixed number of plans; a new one takes the place of an old one. Where a line has none, what is
/// read of it the long way becomes one.
class LinePlans {
 public:
  explicit LinePlans(std::size_t most) : plans_(most) {}
  /// The plan of `line`; null: it goes the long way, which ends with end_line().
  [[nodiscard]] const LinePlan* find(std::string_view line);
  /// The line now being read: its text begins at `offset`.
  void begin_text(std::size_t offset) { text_offset_ = offset; }
  /// It does `step` with the number at `at` of its text, of a ratio also with the one at
  /// `total_at`.
  void record(PlanStep step, std::size_t at, std::size_t total_at = 0);
  void note_counter(bool has_counter);
  /// More than its numbers decides what it does.
  void refuse_line();
  void end_line();
  /// Series are gone.
  void forget();

  /// Position of `anchor` in the line that find() was last asked for.
  /// Within the line, for plans that find() gave.
  [[nodiscard]] std::size_t position_of(Anchor anchor) const {
    return shape_.starts[anchor.run] - anchor.back;
  }

 private:
  std::vector<LinePlan> plans_;
  LineShape shape_;
  LinePlan* recording_ = nullptr;
  std::size_t text_offset_ = 0;
};

}  // namespace flowcon::ctrl::metrics
