// SPDX-License-Identifier: Apache-2.0
// Numbers as Prometheus reads them: its text format 0.0.4. Pure. docs/metrics.md lists what there
// is.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flowcon::ctrl {

/// A metric of the daemon.
struct Family {
  std::string_view name;
  std::string_view type;  ///< "gauge" or "counter"
  std::string_view help;
};

/// All there are, in the order in which they are told. docs/metrics.md, the dashboard and the alert
/// rules are compared with this table.
[[nodiscard]] const std::vector<Family>& families();

class Exposition {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  /// One sample of a family, which has to be one of families(). Values of labels may be any text;
  /// what is longer than 200 bytes is cut.
  void add(std::string_view family, Labels labels, double value);
  void add(std::string_view family, double value) { add(family, {}, value); }
  /// All families with a sample, without the last line end.
  [[nodiscard]] std::string text() const;

 private:
  std::map<std::string_view, std::string> samples_;  ///< family -> its lines
};

}  // namespace flowcon::ctrl
