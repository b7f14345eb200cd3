// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/text/units.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/digits.h"
#include "ctrl/policy/explain.h"

namespace flowcon::plugin {
namespace {

std::string scaled(double amount, double step, const std::array<const char*, 6>& units) {
  std::size_t unit = 0;
  for (; std::fabs(amount) >= step && unit + 1 < units.size(); ++unit) amount /= step;
  return number_text(amount, 4) + units[unit];
}

}  // namespace

std::string number_text(double number, int digits) {
  std::array<char, 64> out{};
  const int length =
      std::snprintf(out.data(), out.size(), "%.*g", std::clamp(digits, 1, 17), number);
  return {out.data(), static_cast<std::size_t>(std::max(length, 0))};
}

std::string number_text(std::optional<double> number) {
  return number ? number_text(*number, 6) : std::string(kUnknown);
}

std::string percent_text(std::optional<double> share) {
  if (!share) return std::string(kUnknown);
  // A share far above 1 is a mistake of someone's, and still must not widen the table.
  if (!(std::fabs(*share) < 1000)) return number_text(*share * 100, 3) + "%";
  return two_digits(*share * 100) + "%";
}

std::string growth_text(std::optional<double> growth) {
  if (!growth || !std::isfinite(*growth)) return std::string(kUnknown);
  return ctrl::policy::rounded(*growth * 100) + "%/s";
}

std::string memory_text(std::optional<double> bytes) {
  if (!bytes || !std::isfinite(*bytes)) return std::string(kUnknown);
  return scaled(*bytes, 1024, {"B", "KiB", "MiB", "GiB", "TiB", "PiB"});
}

std::string rate_text(std::optional<double> bytes_per_second) {
  if (!bytes_per_second || !std::isfinite(*bytes_per_second)) return std::string(kUnknown);
  return scaled(*bytes_per_second, 1000, {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"});
}

std::string time_text(std::optional<double> seconds) {
  constexpr double kMinute = 60, kHour = 3600, kDay = 86400, kMostDays = 9999;
  if (!seconds || !(*seconds >= 0) || *seconds > kMostDays * kDay) return std::string(kUnknown);
  if (*seconds < 100) return number_text(std::round(*seconds), 3) + " s";
  if (*seconds < 100 * kMinute) return number_text(std::round(*seconds / kMinute), 3) + " min";
  if (*seconds < 2 * kDay) return number_text(*seconds / kHour, 2) + " h";
  return number_text(std::round(*seconds / kDay), 4) + " d";
}

}  // namespace flowcon::plugin
