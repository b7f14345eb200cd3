// SPDX-License-Identifier: Apache-2.0
// Is this the metric the user named? People write "val loss" for val_loss, "Loss/tok running mean"
// for the number in parentheses, "epoch loss" for the loss that comes once an epoch.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ctrl/metrics/series.h"

namespace flowcon::ctrl::metrics {

class NameQuery {
 public:
  explicit NameQuery(std::string_view asked);
  [[nodiscard]] bool empty() const { return asked_.empty(); }
  [[nodiscard]] const std::string& asked() const { return asked_; }
  /// 0 = another metric; more is closer, 7 = the same text. Phases and grain are not looked at.
  [[nodiscard]] int match(std::string_view key, Phase line_phase) const;
  /// "Loss" is not "loss" here.
  [[nodiscard]] bool is_same(std::string_view key) const { return !empty() && key == asked_; }
  /// Between series that match equally well: what the user said about the kind of value.
  [[nodiscard]] double preference(const Series& series) const;

 private:
  std::string asked_;
  std::string normal_;
  std::vector<std::string> words_;
  bool wants_average_ = false;
  bool wants_epoch_ = false;
  Phase phase_ = Phase::none;
};

}  // namespace flowcon::ctrl::metrics
