// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/text/json_fields.h"

#include <cmath>

namespace flowcon::plugin {

namespace json = boost::json;

const json::value& member(const json::object& object, std::string_view name) {
  static const json::value nothing;
  const json::value* value = object.if_contains(name);
  return value != nullptr ? *value : nothing;
}

const json::value& member(const json::value& value, std::string_view name) {
  static const json::object empty;
  return member(value.is_object() ? value.get_object() : empty, name);
}

std::string text_of(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : "";
}

std::string text_of(const json::object& object, std::string_view name) {
  return text_of(member(object, name));
}

std::optional<double> real_of(const json::value& value) {
  if (value.is_number()) return value.to_number<double>();
  const std::string word = text_of(value);
  if (word == "nan") return std::nan("");
  if (word == "inf") return HUGE_VAL;
  if (word == "-inf") return -HUGE_VAL;
  return std::nullopt;
}

bool is_true(const json::value& value) { return value.is_bool() && value.get_bool(); }

json::value number_or_null(const json::value& value) {
  return real_of(value) ? value : json::value();
}

json::value text_or_null(const json::value& value) {
  return value.is_string() ? value : json::value();
}

const json::array& list_of(const json::value& value) {
  static const json::array none;
  return value.is_array() ? value.get_array() : none;
}

}  // namespace flowcon::plugin
