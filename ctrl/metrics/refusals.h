// SPDX-License-Identifier: Apache-2.0
// Named numbers that are no candidates, and why; for a person who asks.
#pragma once

#include <cstdint>
#include <vector>

#include "ctrl/metrics/explain.h"
#include "ctrl/metrics/scan.h"

namespace flowcon::ctrl::metrics {

/// At most kMost of them.
class Refusals {
 public:
  static constexpr std::size_t kMost = 32;
  /// Until then nothing is remembered.
  void begin() { is_wanted_ = true; }
  /// `is_asked`: a metric was named, which this one is not.
  void add(const Field& field, std::uint64_t name_hash, bool is_asked);
  [[nodiscard]] const std::vector<Refused>& all() const { return refused_; }

 private:
  bool is_wanted_ = false;
  std::vector<Refused> refused_;
  std::vector<std::uint64_t> names_;  ///< of refused_, same order
};

}  // namespace flowcon::ctrl::metrics
