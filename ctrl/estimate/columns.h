// SPDX-License-Identifier: Apache-2.0
// Features of jobs as rows of numbers, which a forest learns from. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "ctrl/estimate/estimate.h"

namespace flowcon::ctrl::estimate {

/// A column for each name with numbers, on a scale that is near enough the logarithm, and one for
/// each text of a name: is it that one? The family is a text. Of more than kMostColumns those that
/// most rows have, numbers before texts, and of equals the newest; none that one row alone has.
class Columns {
 public:
  explicit Columns(const std::vector<const Profile*>& rows);

  [[nodiscard]] std::vector<float> row(const std::string& family, const Features& features) const;

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
  std::unordered_map<std::string, std::size_t> texts_;  // by name and text
};

}  // namespace flowcon::ctrl::estimate
