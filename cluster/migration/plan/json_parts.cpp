// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/json_parts.h"

#include <algorithm>

namespace flowcon::cluster::migration {

namespace json = boost::json;

const json::value& member(const json::value& value, std::string_view name) {
  static const json::value kNone;
  const json::object* object = value.if_object();
  const json::value* found = object != nullptr ? object->if_contains(name) : nullptr;
  return found != nullptr ? *found : kNone;
}

std::string text_of(const json::value& value, std::string_view name) {
  const json::string* text = member(value, name).if_string();
  return text != nullptr ? std::string(*text) : std::string();
}

const json::array& list_of(const json::value& value, std::string_view name) {
  static const json::array kNone;
  const json::array* list = member(value, name).if_array();
  return list != nullptr ? *list : kNone;
}

const json::object& object_of(const json::value& value, std::string_view name) {
  static const json::object kNone;
  const json::object* object = member(value, name).if_object();
  return object != nullptr ? *object : kNone;
}

bool is_true(const json::value& value, std::string_view name) {
  const json::value& found = member(value, name);
  return found.is_bool() && found.get_bool();
}

bool is_nothing(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return true;
    case json::kind::bool_:
      return !value.get_bool();
    case json::kind::int64:
      return value.get_int64() == 0;
    case json::kind::uint64:
      return value.get_uint64() == 0;
    case json::kind::double_:
      return value.get_double() == 0;
    case json::kind::string:
      return value.get_string().empty();
    case json::kind::array:
      return value.get_array().empty();
    case json::kind::object:
      return value.get_object().empty();
  }
  return false;
}

bool is_object_name(std::string_view name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (name.empty() || name.size() > 255 || !is_plain(name.front())) return false;
  return std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_plain(c) || c == '_' || c == '.' || c == '-'; });
}

bool is_plain_path(std::string_view path) {
  if (!path.starts_with('/') || path.size() > 4096) return false;
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::any_of(path.begin(), path.end(), is_control)) return false;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view part = path.substr(0, path.find('/'));
    if (part == "." || part == "..") return false;
    path.remove_prefix(part.size());
  }
  return true;
}

bool is_within(std::string_view path, std::string_view prefix) {
  if (!is_plain_path(path) || !is_plain_path(prefix)) return false;
  // A path may say "//" where it means "/": component by component.
  for (;;) {
    while (path.starts_with('/')) path.remove_prefix(1);
    while (prefix.starts_with('/')) prefix.remove_prefix(1);
    if (prefix.empty()) return true;
    const std::string_view wanted = prefix.substr(0, prefix.find('/'));
    if (path.substr(0, path.find('/')) != wanted) return false;
    path.remove_prefix(wanted.size());
    prefix.remove_prefix(wanted.size());
  }
}

}  // namespace flowcon::cluster::migration
