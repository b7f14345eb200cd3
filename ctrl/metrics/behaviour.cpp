// SPDX-License-Identifier: Apache-2.0
#include "ctrl/metrics/behaviour.h"

#include <algorithm>
#include <cmath>

namespace flowcon::ctrl::metrics {
namespace {

constexpr double kWeakWeight = 4;    // of a name that may be that of anything
constexpr double kWandering = 0.35;  // below this share of its range a trend may be chance

}  // namespace

double trend_of(const Series& series) {
  const double range = series.high - series.low;
  if (series.finite < 2 || !(range > 0) || !std::isfinite(range)) return 0;
  const double trend = (series.late() - series.early()) / range;
  return std::isfinite(trend) ? std::clamp(trend, -1.0, 1.0) : 0;
}

bool is_constant(const Series& series) { return series.finite >= 2 && series.low == series.high; }

bool crosses_range(const Series& series, bool falls) {
  const double near = (series.high - series.low) / 10;
  const double from = falls ? series.high - series.first_value : series.first_value - series.low;
  const double to = falls ? series.late() - series.low : series.high - series.late();
  return from <= near && to <= near;
}

bool goes_one_way(const Series& series) {
  const std::uint64_t steps = series.rises + series.falls;
  return steps >= 8 && std::max(series.rises, series.falls) * 10 >= steps * 8 &&
         crosses_range(series, series.falls >= series.rises);
}

bool wanders(const Series& series) {
  return std::abs(trend_of(series)) < kWandering && !goes_one_way(series);
}

bool is_clockwork(const Series& series) {
  const std::uint64_t steps = series.rises + series.falls;
  return steps >= 4 && series.equal_steps * 10 >= steps * 8;
}

bool is_weakly_named(const Series& series) {
  const NameInfo& info = series.traits.info;
  return info.role == Role::unknown || (info.weight <= kWeakWeight && !info.is_best);
}

bool hardly_changes(const Series& series) {
  const std::uint64_t moves = series.rises + series.falls;
  return moves > 0 && series.finite >= kValuesThatTell && moves * 12 <= series.finite &&
         is_weakly_named(series);
}

}  // namespace flowcon::ctrl::metrics
