// SPDX-License-Identifier: Apache-2.0
// The functions of the template language, on plain values.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace flowcon::plugin {

/// Calls `name` with `arguments`. Errors: wrong number or kind of arguments, in one sentence.
[[nodiscard]] Result<boost::json::value> call_template_function(
    std::string_view name, const std::vector<boost::json::value>& arguments);

/// A value as Go prints it: strings bare, lists as [a b], objects as map[k:v], null as <no value>.
[[nodiscard]] std::string template_text(const boost::json::value& value);

/// Go's truth: false, 0, "", null and empty values are false.
[[nodiscard]] bool is_template_true(const boost::json::value& value);

/// JSON on one line, safe on a terminal: it escapes the characters that printable() replaces.
[[nodiscard]] std::string json_text(const boost::json::value& value);

}  // namespace flowcon::plugin
