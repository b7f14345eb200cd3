// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/queue/values.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "cmd/docker-flowcon/text/values.h"
#include "ctrl/queue_labels.h"

namespace flowcon::plugin {
namespace {

constexpr double kLeastPriority = 0.1;
constexpr double kMostPriority = 10;
constexpr std::int64_t kMostRetries = 100;
constexpr const char* kNone = "none";

std::string complaint(const std::string& wanted, const std::string& text) {
  return "has to be " + wanted + ", not \"" + printable(text) + "\"";
}

bool is_above_zero(const std::string& text) {
  const std::optional<double> number = parse_real(text);
  return number && *number > 0;
}

// "3G", "500m", "2GiB", "1.5gb", "4096".
bool is_size(const std::string& text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  std::string unit = text.substr(end);
  for (char& c : unit) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const bool is_scaled = !unit.empty() && std::string_view("kmgt").find(unit[0]) != unit.npos;
  const std::string rest = is_scaled ? unit.substr(1) : unit;
  const bool is_unit = rest.empty() || rest == "b" || (is_scaled && rest == "ib");
  return is_unit && is_above_zero(text.substr(0, end));
}

std::string check_count(const std::string& text, std::int64_t least, std::int64_t most) {
  std::int64_t number = -1;
  const char* end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, number);
  if (failed == std::errc() && stop == end && number >= least && number <= most) return "";
  return complaint("a whole number from " + std::to_string(least) + " to " + std::to_string(most),
                   text);
}

std::string or_none(std::string (*check)(const std::string&), const std::string& text) {
  const std::string error = text == kNone ? "" : check(text);
  const std::size_t comma = error.find(", not \"");
  return error.empty() ? "" : error.substr(0, comma) + ", or none" + error.substr(comma);
}

}  // namespace

std::string check_request(const std::string& text) {
  const std::string error =
      complaint("cores and memory such as cpu=2,mem=3G, or one of the two", text);
  bool has_cpu = false;
  bool has_mem = false;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    at = end + 1;
    const bool is_cpu = part.starts_with("cpu=") && is_above_zero(part.substr(4));
    const bool is_mem = part.starts_with("mem=") && is_size(part.substr(4));
    if (!(is_cpu || is_mem) || (is_cpu && has_cpu) || (is_mem && has_mem)) return error;
    has_cpu = has_cpu || is_cpu;
    has_mem = has_mem || is_mem;
  }
  return "";
}

std::string check_priority(const std::string& text) {
  const std::optional<double> number = parse_real(text);
  return number && *number >= kLeastPriority && *number <= kMostPriority
             ? ""
             : complaint("a number from 0.1 to 10", text);
}

std::string check_retries(const std::string& text) { return check_count(text, 0, kMostRetries); }
std::string check_workers(const std::string& text) {
  return ctrl::parse_workers(text)
             ? ""
             : complaint("a number of workers from 1 to 192, or two such as 2:6", text);
}
std::string check_scale(const std::string& text) {
  return text == kNone ? "" : check_count(text, 1, ctrl::kMostWorkers);
}
std::string check_servers(const std::string& text) {
  return check_count(text, 0, ctrl::kMostServers);
}

std::string check_request_or_none(const std::string& text) { return or_none(check_request, text); }
std::string check_priority_or_none(const std::string& text) {
  return or_none(check_priority, text);
}
std::string check_retries_or_none(const std::string& text) { return or_none(check_retries, text); }

}  // namespace flowcon::plugin
