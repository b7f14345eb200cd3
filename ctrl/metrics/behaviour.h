// SPDX-License-Identifier: Apache-2.0
// What a series has done over time, in words: it fell, wanders about, goes on like a clock.
#pragma once

#include <cstdint>

#include "ctrl/metrics/series.h"

namespace flowcon::ctrl::metrics {

/// Of a series whose name says nothing.
inline constexpr std::uint64_t kValuesThatTell = 12;

/// -1 to 1: how far the series fell (negative) or rose between its first and last values, as a
/// share of its range.
[[nodiscard]] double trend_of(const Series& series);
[[nodiscard]] bool is_constant(const Series& series);
/// From one end of its range to the other: a loss that falls fast at first and then slowly, whose
/// first few values are no measure of where it began.
[[nodiscard]] bool crosses_range(const Series& series, bool falls);
/// From one end to the other nearly step by step.
[[nodiscard]] bool goes_one_way(const Series& series);
/// Neither rises nor falls by more than chance.
[[nodiscard]] bool wanders(const Series& series);
/// Goes on by the same step nearly always: a counter, a clock, a schedule.
[[nodiscard]] bool is_clockwork(const Series& series);
/// The name says next to nothing: "real", "value", "avg"; or there is none.
[[nodiscard]] bool is_weakly_named(const Series& series);
/// A rate that is cut once or twice, the number of a stage, a flag.
[[nodiscard]] bool hardly_changes(const Series& series);

}  // namespace flowcon::ctrl::metrics
