// SPDX-License-Identifier: Apache-2.0
// Reads members of flowcond's answers without trusting that they are there or of the right kind.
// Nothing here is safe for a terminal yet.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace flowcon::plugin {

/// The member, or null where it is missing or `value` is no object.
[[nodiscard]] const boost::json::value& member(const boost::json::object& object,
                                               std::string_view name);
[[nodiscard]] const boost::json::value& member(const boost::json::value& value,
                                               std::string_view name);

/// A string's text; "" for anything else.
[[nodiscard]] std::string text_of(const boost::json::value& value);
[[nodiscard]] std::string text_of(const boost::json::object& object, std::string_view name);

/// A number, or one of the words nan, inf and -inf for those that JSON does not know; empty for
/// anything else.
[[nodiscard]] std::optional<double> real_of(const boost::json::value& value);

/// True for true, false for anything else.
[[nodiscard]] bool is_true(const boost::json::value& value);

/// The value where it is such a number or a string, else null.
[[nodiscard]] boost::json::value number_or_null(const boost::json::value& value);
[[nodiscard]] boost::json::value text_or_null(const boost::json::value& value);

/// The elements of a list; none for anything else.
[[nodiscard]] const boost::json::array& list_of(const boost::json::value& value);

}  // namespace flowcon::plugin
