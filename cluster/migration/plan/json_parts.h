// SPDX-License-Identifier: Apache-2.0
// Small readers of JSON that is not trusted: whatever is missing or of another type reads as
// nothing. And what a name or path from outside may look like.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <string_view>

namespace flowcon::cluster::migration {

/// The member, or null where the value is no object or has none of that name.
[[nodiscard]] const boost::json::value& member(const boost::json::value& value,
                                               std::string_view name);

/// A member's text; empty where there is none.
[[nodiscard]] std::string text_of(const boost::json::value& value, std::string_view name);

/// A member's elements; none where it is no array.
[[nodiscard]] const boost::json::array& list_of(const boost::json::value& value,
                                                std::string_view name);

/// A member's members; none where it is no object.
[[nodiscard]] const boost::json::object& object_of(const boost::json::value& value,
                                                   std::string_view name);

[[nodiscard]] bool is_true(const boost::json::value& value, std::string_view name);

/// Says the value nothing: null, false, 0, "", [] or {}?
[[nodiscard]] bool is_nothing(const boost::json::value& value);

/// As the engine allows for containers, volumes and networks: [A-Za-z0-9][A-Za-z0-9_.-]*, at most
/// 255 bytes.
[[nodiscard]] bool is_object_name(std::string_view name);

/// Absolute, without "." and ".." and control characters, at most 4096 bytes?
[[nodiscard]] bool is_plain_path(std::string_view path);

/// Is `path` the folder `prefix` or in it? By components: /data is no prefix of /database.
[[nodiscard]] bool is_within(std::string_view path, std::string_view prefix);

}  // namespace flowcon::cluster::migration
