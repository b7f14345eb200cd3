// SPDX-License-Identifier: Apache-2.0
// Progress bars as they follow each other in a log.
#pragma once

#include <cstdint>

#include "ctrl/metrics/names.h"
#include "ctrl/metrics/scan.h"

namespace flowcon::ctrl::metrics {

/// What is known of a bar by those before it.
struct BarSeen {
  bool is_finished = false;
  bool is_same = false;       ///< the finished bar before, drawn again
  Phase phase = Phase::none;  ///< eval: it follows the training's bar of the same epoch
};

class Bars {
 public:
  /// "Epoch 3/20" alone on its line: bars of that epoch follow.
  void begin_epoch() {
    has_epochs_ = true;
    batches_ = 0;
  }
  /// `title`: a hash of what stands before the bar; `line`: its number. Where no unfinished state
  /// was ever printed, two equal titles are two bars, not one drawn twice.
  /// `is_work`: it has values that are no evaluation's by their names.
  [[nodiscard]] BarSeen read(const Bar& bar, std::uint64_t title, std::uint64_t line, bool is_work);
  /// Which part a bar is of may be told by the lines before it.
  [[nodiscard]] bool tells_parts() const { return has_epochs_ && line_ > 0; }

 private:
  bool has_epochs_ = false;
  double batches_ = 0;  ///< of the first bar that was finished in this epoch
  std::uint64_t line_ = 0;
  std::uint64_t title_ = 0;
  bool was_finished_ = false;
  bool was_partial_ = false;  ///< the last one, or one before
};

}  // namespace flowcon::ctrl::metrics
