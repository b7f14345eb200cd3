// SPDX-License-Identifier: Apache-2.0
// Numbers and words of a command line, in their ranges.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/digits.h"
#include "base/json.h"
#include "base/text.h"

namespace flowcon::sim {

/// Reads options one by one and keeps the first complaint.
class Reader {
 public:
  template <class T>
  void number(const char* option, const std::string& text, double low, double high, T& out) {
    if (text.empty() || !problem_.empty()) return;
    const std::optional<double> value = parse_number<double>(text);
    const bool is_good = value && *value >= low && *value <= high &&
                         (!std::is_integral_v<T> || *value == std::floor(*value));
    if (!is_good) {
      problem_ = std::string(option) + ": \"" + printable(text, 40) + "\" is not a " +
                 (std::is_integral_v<T> ? "whole " : "") + "number from " + render_number(low) +
                 " to " + render_number(high);
      return;
    }
    out = static_cast<T>(*value);
  }
  template <class T>
  void number(const char* option, const std::string& text, double low, double high,
              std::optional<T>& out) {
    if (text.empty()) return;
    T value{};
    number(option, text, low, high, value);
    out = value;
  }
  template <class T>
  void word(const char* option, const std::string& text,
            const std::vector<std::pair<std::string_view, T>>& words, T& out) {
    if (text.empty() || !problem_.empty()) return;
    for (const auto& [name, value] : words) {
      if (name != text) continue;
      out = value;
      return;
    }
    problem_ = std::string(option) + ": \"" + printable(text, 40) + "\" is not one of " +
               joined(words, ", ", [](const auto& one) { return one.first; });
  }
  /// The words of a comma-separated list, as long as there is no complaint.
  template <class Take>
  void each(const std::string& list, Take take) {
    for (std::size_t at = 0; at <= list.size() && problem_.empty();) {
      const std::size_t end = std::min(list.find(',', at), list.size());
      take(list.substr(at, end - at));
      at = end + 1;
    }
  }
  void complain(const std::string& what) {
    if (problem_.empty()) problem_ = what;
  }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  std::string problem_;
};

}  // namespace flowcon::sim
