// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/text/times.h"

#include <array>
#include <charconv>
#include <ctime>
#include <utility>

#include "base/text.h"
#include "cmd/docker-flowcon/text/units.h"

namespace flowcon::plugin {
namespace {

constexpr double kMostSeconds = 10 * 365.25 * 86400;
constexpr double kYear10000 = 253402300800.0;

constexpr std::array<std::pair<std::string_view, double>, 8> kUnits{{{"ns", 1e-9},
                                                                     {"us", 1e-6},
                                                                     {"\u00B5s", 1e-6},
                                                                     {"\u03BCs", 1e-6},
                                                                     {"ms", 1e-3},
                                                                     {"s", 1},
                                                                     {"m", 60},
                                                                     {"h", 3600}}};

// Takes a number without sign or exponent from the front of `text`.
std::optional<double> take_number(std::string_view& text) {
  const std::size_t length = std::min(text.find_first_not_of("0123456789."), text.size());
  double number = 0;
  const auto [stop, failed] = std::from_chars(text.data(), text.data() + length, number);
  if (failed != std::errc() || stop != text.data() + length) return std::nullopt;
  text.remove_prefix(length);
  return number;
}

std::string local_text(std::optional<double> moment, const char* format) {
  if (!moment || !(*moment >= 0 && *moment < kYear10000)) return std::string(kUnknown);
  const auto seconds = static_cast<std::time_t>(*moment);
  std::tm parts{};
  tzset();  // localtime_r() alone need not look at TZ
  if (localtime_r(&seconds, &parts) == nullptr) return std::string(kUnknown);
  std::array<char, 32> out{};
  return {out.data(), std::strftime(out.data(), out.size(), format, &parts)};
}

// Reads "+01:00" or "Z" from the end of a date; seconds east of Greenwich.
std::optional<double> take_zone(std::string& text) {
  if (text.back() == 'Z') {
    text.pop_back();
    return 0;
  }
  constexpr std::size_t kLength = 6;
  if (text.size() <= kLength) return std::nullopt;
  const std::string zone = text.substr(text.size() - kLength);
  std::tm parts{};
  const char* stop = strptime(zone.c_str() + 1, "%H:%M", &parts);
  const bool has_sign = zone[0] == '+' || zone[0] == '-';
  if (!has_sign || stop != zone.c_str() + kLength) return std::nullopt;
  text.resize(text.size() - kLength);
  const double seconds = parts.tm_hour * 3600.0 + parts.tm_min * 60.0;
  return zone[0] == '-' ? -seconds : seconds;
}

std::optional<double> parse_date(std::string text) {
  const std::optional<double> zone = take_zone(text);
  for (const char* format : {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H", "%Y-%m-%d"}) {
    std::tm parts{};
    const char* stop = strptime(text.c_str(), format, &parts);
    if (stop == nullptr) continue;
    double fraction = 0;
    std::string_view rest(stop);
    if (!rest.empty()) {
      if (rest[0] != '.' || std::string_view(format).find("%S") == std::string_view::npos) continue;
      const std::optional<double> read = take_number(rest);
      if (!read || !rest.empty()) continue;
      fraction = *read;
    }
    parts.tm_isdst = -1;
    const std::time_t seconds = zone ? timegm(&parts) : mktime(&parts);
    return static_cast<double>(seconds) + fraction - zone.value_or(0);
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> parse_duration(std::string_view text) {
  double sum = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const std::optional<double> number = take_number(text);
    if (!number) return std::nullopt;
    const std::string_view unit = text.substr(0, text.find_first_of("0123456789."));
    double factor = 0;
    for (const auto& [name, seconds] : kUnits) {
      if (unit == name) factor = seconds;
    }
    if (factor == 0) return std::nullopt;
    sum += *number * factor;
    text.remove_prefix(unit.size());
  }
  return sum <= kMostSeconds ? std::optional<double>(sum) : std::nullopt;
}

std::optional<double> parse_moment(const std::string& text, double now) {
  std::string_view ago = text;
  const bool is_later = ago.starts_with('-');
  if (is_later || ago.starts_with('+')) ago.remove_prefix(1);
  if (const std::optional<double> span = parse_duration(ago))
    return is_later ? now + *span : now - *span;
  std::string_view rest = text;
  const std::optional<double> seconds = take_number(rest);
  if (seconds && rest.empty() && *seconds < kYear10000) return seconds;
  return text.empty() ? std::nullopt : parse_date(text);
}

std::string check_moment(const std::string& text) {
  return parse_moment(text, 0)
             ? std::string()
             : "has to be a timestamp or a duration, not \"" + printable(text) + "\"";
}

std::string moment_text(std::optional<double> moment) {
  return local_text(moment, "%Y-%m-%d %H:%M:%S");
}

std::string clock_text(std::optional<double> moment) { return local_text(moment, "%H:%M:%S"); }

}  // namespace flowcon::plugin
