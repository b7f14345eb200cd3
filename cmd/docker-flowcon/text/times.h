// SPDX-License-Identifier: Apache-2.0
// Durations and moments as docker's commands take and show them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace flowcon::plugin {

/// A duration as Go writes it: 90s, 30m, 2h, 1h30m, 1.5h, 500ms, 10us. Units: seconds. Empty where
/// the text is none, a unit is missing, or it is negative or above ten years.
[[nodiscard]] std::optional<double> parse_duration(std::string_view text);

/// A moment as docker's --since takes it: a duration before `now` (-5m is after it), seconds since
/// the epoch with or without a fraction, or an RFC 3339 date (2026-11-21, 2026-11-21T12,
/// 2026-11-21T12:00, …:05.5, with Z or +01:00; without a zone it is local time). Units: seconds
/// since the epoch. Empty for any other text.
[[nodiscard]] std::optional<double> parse_moment(const std::string& text, double now);
/// Error of an option whose text is no such moment; "" if it is one.
[[nodiscard]] std::string check_moment(const std::string& text);

/// "2026-11-21 12:04:10" in local time; "--" for no moment, or one after the year 9999.
[[nodiscard]] std::string moment_text(std::optional<double> moment);

/// The clock's part of it: "12:04:10".
[[nodiscard]] std::string clock_text(std::optional<double> moment);

}  // namespace flowcon::plugin
