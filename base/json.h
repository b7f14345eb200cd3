// SPDX-License-Identifier: Apache-2.0
// JSON in and out with exact numbers. Boost.JSON 1.81 rounds some doubles one unit off when it
// parses and prints 1.0 as 1E0; decisions are compared to the last digit, so both are done here
// with <charconv>: the nearest double in, the shortest text that reads back as the same double out.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace flowcon {

/// Parses one JSON text. Errors: not JSON, nesting deeper than 64, a duplicate member is kept last.
/// A number beyond the range of a double is an error, never an infinity.
[[nodiscard]] Result<boost::json::value> parse_json(std::string_view text);

/// Renders on one line without spaces. Members keep their order. Non-finite doubles, which JSON
/// does not know, become the strings "nan", "inf" and "-inf".
[[nodiscard]] std::string render_json(const boost::json::value& value);

/// The shortest decimal text that reads back as the same double: 0.25, 1, 1e-07, nan, inf, -inf.
[[nodiscard]] std::string render_number(double number);

/// Indented by two spaces, for people.
[[nodiscard]] std::string render_json_pretty(const boost::json::value& value);

}  // namespace flowcon
