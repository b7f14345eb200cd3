// SPDX-License-Identifier: Apache-2.0
// A random forest for regression. dlib's; forest.cpp alone knows it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace flowcon::ctrl::estimate {

/// A table of numbers by row, all rows as long.
using Rows = std::vector<std::vector<float>>;

class Forest {
 public:
  /// Learns `values` from `rows`: as many, at least one, finite, of at least one column. The same
  /// seed gives the same forest.
  Forest(const Rows& rows, const std::vector<double>& values, std::uint64_t seed);
  ~Forest();

  [[nodiscard]] double predict(const std::vector<float>& row) const;

  /// For each row what the trees say that did not learn from it.
  [[nodiscard]] const std::vector<double>& out_of_bag() const;

 private:
  struct Trees;
  std::unique_ptr<Trees> trees_;
};

}  // namespace flowcon::ctrl::estimate
