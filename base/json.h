// SPDX-License-Identifier: Apache-2.0
// JSON in and out with exact numbers. Boost.JSON 1.81 rounds some doubles one unit off when it
// parses and prints 1.0 as 1E0; decisions are compared to the last digit, so both are done here
// with <charconv>: the nearest double in, the shortest text that reads back as the same double out.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace flowcon {

namespace json = boost::json;

/// Parses one JSON text (UTF-8). Integers of 64 bits stay integers, every other number becomes the
/// nearest double. Of a duplicate member the last one is kept.
/// Errors: not JSON, anything but space after it, nesting deeper than 64, invalid UTF-8, a number
/// beyond the range of a double (never an infinity; too small is zero), an exponent of more than
/// 31 bits.
[[nodiscard]] Result<boost::json::value> parse_json(std::string_view text);

/// Renders on one line without spaces. Members keep their order. Non-finite doubles, which JSON
/// does not know, become the strings "nan", "inf" and "-inf". Invalid UTF-8 becomes U+FFFD.
[[nodiscard]] std::string render_json(const boost::json::value& value);

/// Bytes of a text as render_json() writes it: up to six of one.
[[nodiscard]] std::size_t rendered_size(std::string_view text);

/// The fewest digits that read back as the same double: 0.25, 1, 1e-07, -0.0, nan, inf, -inf; an
/// exponent is used below 1e-4 and from 1e16 on.
[[nodiscard]] std::string render_number(double number);

/// null where there is no number.
[[nodiscard]] boost::json::value number_or_null(const std::optional<double>& number);

/// Indented by two spaces, for people.
[[nodiscard]] std::string render_json_pretty(const boost::json::value& value);

}  // namespace flowcon
