// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/text/values.h"

#include <cmath>

#include "base/digits.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd/docker-flowcon/text/times.h"
#include "ctrl/settings.h"

namespace flowcon::plugin {
namespace {

std::string complaint(const std::string& wanted, const std::string& text) {
  return "has to be " + wanted + ", not \"" + printable(text) + "\"";
}

}  // namespace

std::optional<double> parse_real(const std::string& text) {
  const std::optional<double> number = parse_number<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<double> parse_share(const std::string& text) {
  const bool is_percent = !text.empty() && text.back() == '%';
  std::optional<double> number = parse_real(is_percent ? text.substr(0, text.size() - 1) : text);
  if (number && is_percent) *number /= 100;
  return number && *number > 0 && *number <= 1 ? number : std::nullopt;
}

std::string share_word(const std::string& text) {
  const bool is_percent = !text.empty() && text.back() == '%';
  const std::optional<double> share = is_percent ? parse_share(text) : std::nullopt;
  return share ? render_number(*share) : text;
}

std::string check_not_empty(const std::string& text) {
  return text.empty() ? "must not be empty" : "";
}

std::string check_weight(const std::string& text) {
  const std::optional<double> number = parse_real(text);
  const bool is_weight = number && *number >= ctrl::kLeastWeight && *number <= ctrl::kMostWeight;
  return is_weight ? "" : complaint("a number from 0.001 to 10", text);
}

std::string check_share(const std::string& text) {
  return parse_share(text) ? "" : complaint("a share above 0 and at most 1 (or 100%)", text);
}

std::string check_bool(const std::string& text) {
  return text == "true" || text == "false" ? "" : complaint("true or false", text);
}

std::string check_duration(const std::string& text) {
  const std::optional<double> seconds = parse_duration(text);
  return seconds && *seconds > 0 ? "" : complaint("a duration such as 90s, 30m, 2h or 1h30m", text);
}

std::string check_weight_or_none(const std::string& text) {
  if (text == "none" || check_weight(text).empty()) return "";
  return complaint("a number from 0.001 to 10, or none", text);
}

std::string check_share_or_none(const std::string& text) {
  if (text == "none" || parse_share(text)) return "";
  return complaint("a share above 0 and at most 1 (or 100%), or none", text);
}

std::string check_range(const std::string& floor, const std::string& ceiling) {
  const std::optional<double> low = parse_share(floor);
  const std::optional<double> high = parse_share(ceiling);
  if (!low || !high || *low <= *high) return "";
  return "the floor of " + printable(floor) + " is above the ceiling of " + printable(ceiling);
}

}  // namespace flowcon::plugin
