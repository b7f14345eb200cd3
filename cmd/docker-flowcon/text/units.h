// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them, in the units that docker's own tables use. Every text is bounded,
// whatever the number.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace flowcon::plugin {

/// The text of an unknown number, as in docker stats.
inline constexpr std::string_view kUnknown = "--";

/// A number with `digits` significant digits (1 to 17).
[[nodiscard]] std::string number_text(double number, int digits);
/// With six of them; kUnknown where there is none.
[[nodiscard]] std::string number_text(std::optional<double> number);

/// A share, 0.25, as "25%": two significant digits.
[[nodiscard]] std::string percent_text(std::optional<double> share);

/// Growth, 0.0012, as "0.12%/s": progress per second and whole host; three significant digits, as
/// in the sentences of flowcond. One that is not finite is unknown.
[[nodiscard]] std::string growth_text(std::optional<double> growth);

/// Bytes as "393.3MiB"; a number that is not finite is unknown.
[[nodiscard]] std::string memory_text(std::optional<double> bytes);

/// Bytes per second as "183.5kB/s" (decimal, as docker stats counts I/O).
[[nodiscard]] std::string rate_text(std::optional<double> bytes_per_second);

/// "42 s", "12 min", "3.2 h", "5 d"; "--" where it is not known.
[[nodiscard]] std::string time_text(std::optional<double> seconds);

}  // namespace flowcon::plugin
