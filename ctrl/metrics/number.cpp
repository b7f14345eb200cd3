// SPDX-License-Identifier: Apache-2.0
// Text to double without locale, allocation or exceptions.
#include "ctrl/metrics/number.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "base/text.h"

namespace flowcon::ctrl::metrics {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kMaxDigits = 400;  // beyond it the text is no measurement

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

/// The end of "12,345.6" after its first group at [from, at), or `at` where it is not that.
std::size_t skip_thousands(std::string_view text, std::size_t from, std::size_t at) {
  if (at - from > 3 || at - from == 0 || text[from] == '0') return at;
  std::size_t end = at;
  while (end + 4 <= text.size() && text[end] == ',' && skip_digits(text, end + 1) == end + 4)
    end += 4;
  const bool decimal = end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1]);
  return end > at && decimal ? end : at;
}

std::size_t skip_exponent(std::string_view text, std::size_t at, bool has_point) {
  if (at >= text.size()) return at;
  const bool is_fortran = text[at] == 'D' || text[at] == 'd';  // "0.24D+01": only with a sign
  const bool is_julia = text[at] == 'f' && has_point;          // "0.9f0"
  if (text[at] != 'e' && text[at] != 'E' && !is_fortran && !is_julia) return at;
  std::size_t digits = at + 1;
  if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) {
    ++digits;
  } else if (is_fortran) {
    return at;
  }
  const std::size_t end = skip_digits(text, digits);
  const bool is_id = is_julia && end < text.size() && (is_letter(text[end]) || text[end] == '_');
  return end == digits || is_id ? at : end;
}

/// from_chars says "out of range" both for too large and too small.
double out_of_range_value(std::string_view digits) {
  const std::size_t exponent = digits.find_first_of("eE");
  const bool small = exponent != std::string_view::npos
                         ? digits.find('-', exponent) != std::string_view::npos
                         : digits.front() == '0' || digits.front() == '.';
  return small ? 0.0 : kInfinity;
}

double to_double(std::string_view digits) {
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) return out_of_range_value(digits);
  return value;
}

std::optional<Number> microsoft_form(std::string_view text, std::size_t at, double sign) {
  if (text.substr(at, 3) != "1.#") return std::nullopt;
  std::size_t end = at + 3;
  while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) ++end;
  const bool is_inf = text.substr(at + 3, 3) == "INF";
  return Number{is_inf ? sign * kInfinity : std::numeric_limits<double>::quiet_NaN(), end, false,
                false};
}

bool matches(std::string_view text, std::size_t at, std::string_view word) {
  if (at + word.size() > text.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if ((text[at + i] | 0x20) != word[i]) return false;
  }
  return true;
}

/// "57,350", whose first group ends at `whole` and whose groups are parted by `mark`.
std::optional<Number> grouped_count(std::string_view text, std::size_t at, std::size_t whole,
                                    char mark) {
  if (whole - at > 3) return std::nullopt;
  std::string plain(text.substr(at, whole - at));
  std::size_t end = whole;
  while (end - at < kMaxDigits && end < text.size() && text[end] == mark &&
         skip_digits(text, end + 1) == end + 4) {
    plain += text.substr(end + 1, 3);
    end += 4;
  }
  const bool is_list = end + 1 < text.size() && text[end] == mark && is_digit(text[end + 1]);
  if (end == whole || is_list) return std::nullopt;
  Number number;
  number.integer = true;
  number.value = to_double(plain);
  number.end = end;
  return number;
}

}  // namespace

std::optional<Number> number_at(std::string_view text, std::size_t at) {
  double sign = 1;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) sign = text[at++] == '-' ? -1 : 1;
  if (auto special = microsoft_form(text, at, sign)) return special;
  const std::size_t from = at;
  at = skip_digits(text, at);
  const std::size_t grouped = skip_thousands(text, from, at);
  const bool has_groups = grouped != at;
  at = grouped;
  const std::size_t whole_end = at;
  const bool is_ellipsis = text.substr(at, 2) == "..";
  if (at < text.size() && text[at] == '.' && !is_ellipsis) at = skip_digits(text, at + 1);
  if (at == from || (at == from + 1 && text[from] == '.')) return std::nullopt;
  const std::size_t mantissa_end = at;
  at = skip_exponent(text, at, mantissa_end != whole_end);
  const bool has_other_e = at != mantissa_end && (text[mantissa_end] | 0x20) != 'e';
  if (at - from > kMaxDigits) return std::nullopt;
  Number number;
  const std::string_view digits = text.substr(from, at - from);
  if (has_groups || has_other_e) {
    std::string plain;
    for (char c : digits) {
      if (c != ',') plain.push_back(is_letter(c) ? 'e' : c);
    }
    number.value = sign * to_double(plain);
  } else {
    number.value = sign * to_double(digits);
  }
  number.integer = at == whole_end;
  if (at < text.size() && text[at] == '%') {
    number.percent = true;
    ++at;
  }
  number.end = at;
  return number;
}

std::optional<Number> spaced_count_at(std::string_view text, std::size_t at) {
  const std::size_t whole = skip_digits(text, at);
  if (whole == at || whole >= text.size() || text[whole] != ' ') return std::nullopt;
  const std::optional<Number> grouped = grouped_count(text, at, whole, ' ');
  if (!grouped || grouped->end >= text.size()) return grouped;
  const char next = text[grouped->end];
  const bool goes_on =
      is_letter(next) || next == '_' || next == '%' ||
      ((next == '.' || next == ',') && skip_digits(text, grouped->end + 1) > grouped->end + 1);
  return goes_on ? std::nullopt : grouped;
}

std::optional<Number> scaled_at(std::string_view text, std::size_t at) {
  const std::size_t whole = skip_digits(text, at);
  if (whole == at || whole >= text.size()) return std::nullopt;
  const auto is_closed = [&text](std::size_t end) {
    return end >= text.size() || !(is_letter(text[end]) || is_digit(text[end]) || text[end] == '_');
  };
  Number number;
  number.integer = true;
  if (const char mark = text[whole]; mark == ',' || mark == '_' || mark == '\'') {
    const std::optional<Number> grouped = grouped_count(text, at, whole, mark);
    return grouped && is_closed(grouped->end) ? grouped : std::nullopt;
  }
  const std::size_t end = text[whole] == '.' ? skip_digits(text, whole + 1) : whole;
  if (end >= text.size() || end - at > kMaxDigits) return std::nullopt;
  const char unit = text[end];
  // "9.40kit/10.0kit": how tqdm-loggable counts iterations.
  const std::size_t last = text.substr(end + 1).starts_with("it") ? end + 3 : end + 1;
  if (!is_closed(last)) return std::nullopt;
  const double scale = unit == 'k' || unit == 'K'   ? 1e3
                       : unit == 'M'                ? 1e6
                       : unit == 'G' || unit == 'B' ? 1e9
                                                    : 0;
  if (scale == 0) return std::nullopt;
  number.value = std::round(to_double(text.substr(at, end - at)) * scale);
  number.end = last;
  return number;
}

std::optional<Number> non_finite_at(std::string_view text, std::size_t at) {
  double sign = 1;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) sign = text[at++] == '-' ? -1 : 1;
  constexpr std::array<std::string_view, 3> names{"infinity", "inf", "nan"};
  for (std::string_view name : names) {
    if (!matches(text, at, name)) continue;
    std::size_t end = at + name.size();
    if (name == "nan" && matches(text, end, "(ind)")) end += 5;
    if (end < text.size() && (is_letter(text[end]) || is_digit(text[end]) || text[end] == '_'))
      continue;
    Number number;
    number.value = name == "nan" ? std::numeric_limits<double>::quiet_NaN() : sign * kInfinity;
    if (end < text.size() && text[end] == '%') {
      number.percent = true;
      ++end;
    }
    number.end = end;
    return number;
  }
  return std::nullopt;
}

std::optional<Number> whole_number(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  if (text.empty()) return std::nullopt;
  std::optional<Number> number = number_at(text, 0);
  if (!number) number = non_finite_at(text, 0);
  if (!number || number->end != text.size()) return std::nullopt;
  return number;
}

}  // namespace flowcon::ctrl::metrics
