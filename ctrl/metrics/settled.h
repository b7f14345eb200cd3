// SPDX-License-Identifier: Apache-2.0
// By which words the lines are known that a collector still needs once its choice has settled.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace flowcon::ctrl::metrics {

struct SeriesTraits;

/// The counters with a total of a log's lines, and which of them come on lines without the favoured
/// series.
class CounterWords {
 public:
  void begin_line() { line_.clear(); }
  void add(std::uint64_t key, std::string_view name);
  /// `with_value`: the line held a value of the favoured series.
  void end_line(bool with_value);
  /// Another series is favoured.
  void start_over();
  /// Words one of which stands on each line with a value of the favoured series or with a counter
  /// that comes alone; empty where no words identify them.
  [[nodiscard]] std::vector<std::string> needed(const SeriesTraits& favoured) const;

 private:
  struct Counter {
    std::uint64_t key = 0;
    std::string word;
    bool alone = false;  ///< seen on a line without the favoured series
  };
  std::vector<Counter> counters_;
  std::vector<std::uint64_t> line_;  ///< keys on this line
  bool is_overfull_ = false;         ///< more than words can identify
};

/// True if one of `words` stands somewhere in `text`.
[[nodiscard]] bool holds_any(std::string_view text, const std::vector<std::string>& words);

}  // namespace flowcon::ctrl::metrics
