// SPDX-License-Identifier: Apache-2.0
// The metric that the user named at the head of a column, and the numbers beneath it, in tables
// that TableReader does not know: by their place on the line.
#pragma once

#include <cstddef>
#include <string_view>

#include "ctrl/metrics/scan.h"

namespace flowcon::ctrl::metrics {

class NamedColumn {
 public:
  /// The number of this line that stands beneath `name`, which has to outlive it; null = there is
  /// none. Reads heads on the way.
  const Field* read(std::string_view line, std::string_view name);
  [[nodiscard]] bool is_open() const { return end_ > 0; }
  /// The line read last is a head.
  [[nodiscard]] bool is_head() const { return is_head_; }

 private:
  bool read_head(std::string_view line, std::string_view name);

  Field field_;
  bool is_head_ = false;
  std::size_t begin_ = 0;  ///< of the name; in bytes
  std::size_t end_ = 0;    ///< 0 = there is none
  int gaps_ = 0;
};

}  // namespace flowcon::ctrl::metrics
