// SPDX-License-Identifier: Apache-2.0
#include "ctrl/codec/field_reader.h"

#include <cmath>
#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace flowcon::ctrl::codec {
namespace {

namespace json = boost::json;

constexpr double kMostCounted = 9007199254740992.0;  // 2^53

// What stands there, short enough for one line.
std::string shown(const json::value& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  if (const json::string* text = value.if_string()) return '"' + printable(*text, 40) + '"';
  return printable(render_json(value), 40);
}

}  // namespace

std::string indexed(std::string_view name, std::size_t index) {
  return std::string(name) + '[' + std::to_string(index) + ']';
}

FieldReader::FieldReader(const json::value& value, std::string path) : path_(std::move(path)) {
  object_ = value.if_object();
  if (!object_) complain("", "must be an object, not " + shown(value));
}

std::string FieldReader::place(std::string_view name) const {
  std::string place = path_;
  if (!path_.empty() && !name.empty()) place += '.';
  return place.append(name);
}

const json::value* FieldReader::find(std::string_view name) const {
  return object_ ? object_->if_contains(name) : nullptr;
}

const json::value& FieldReader::member(std::string_view name) {
  static const json::value kNull;
  const json::value* value = required(name);
  return value ? *value : kNull;
}

double FieldReader::number(std::string_view name) {
  const json::value* value = required(name);
  if (!value) return 0;
  if (!value->is_number()) {
    complain(name, "must be a number, not " + shown(*value));
    return 0;
  }
  return value->to_number<double>();
}

std::optional<double> FieldReader::number_or_null(std::string_view name) {
  const json::value* value = required(name);
  if (!value || value->is_null()) return std::nullopt;
  if (!value->is_number()) {
    complain(name, "must be a number or null, not " + shown(*value));
    return std::nullopt;
  }
  return value->to_number<double>();
}

std::optional<double> FieldReader::optional_number(std::string_view name) {
  const json::value* value = find(name);
  if (!value || value->is_null()) return std::nullopt;
  return number(name);
}

std::int64_t FieldReader::count(std::string_view name) {
  const double number = this->number(name);
  const bool is_whole = number >= 0 && number <= kMostCounted && std::floor(number) == number;
  require(is_whole, name, "must be a whole number from 0 to 2^53");
  return is_whole ? static_cast<std::int64_t>(number) : 0;
}

bool FieldReader::boolean(std::string_view name) {
  const json::value* value = required(name);
  if (!value) return false;
  if (!value->is_bool()) complain(name, "must be true or false, not " + shown(*value));
  return value->is_bool() && value->get_bool();
}

bool FieldReader::optional_bool(std::string_view name) {
  const json::value* value = find(name);
  if (!value || value->is_null()) return false;
  return boolean(name);
}

std::string FieldReader::text(std::string_view name) {
  const json::value* value = required(name);
  if (!value) return {};
  return text_of(*value, name);
}

std::string FieldReader::text_of(const json::value& value, std::string_view name) {
  if (const json::string* text = value.if_string()) return std::string(*text);
  complain(name, "must be a string, not " + shown(value));
  return {};
}

const json::array& FieldReader::array(std::string_view name) {
  static const json::array kEmpty;
  const json::value* value = required(name);
  if (!value) return kEmpty;
  if (const json::array* array = value->if_array()) return *array;
  complain(name, "must be an array, not " + shown(*value));
  return kEmpty;
}

void FieldReader::require(bool holds, std::string_view name, const char* rule) {
  if (holds || !complaint_.empty()) return;
  complain(name, std::string(rule) + ", not " + shown(*find(name)));
}

void FieldReader::complain(std::string_view name, const std::string& what) {
  if (!complaint_.empty()) return;
  complaint_ = printable(place(name));  // names can be the state's own
  if (complaint_.empty()) complaint_ = "the state";
  complaint_ += ": " + what;
}

void FieldReader::complain_of_repeated(std::string_view name, std::string_view id) {
  complain(name, "is there twice: \"" + printable(id, 40) + '"');
}

void FieldReader::take_complaint(const FieldReader& inner) {
  if (complaint_.empty()) complaint_ = inner.complaint_;
}

const json::value* FieldReader::required(std::string_view name) {
  const json::value* value = find(name);
  if (!value) complain(name, "is missing");
  return value;
}

}  // namespace flowcon::ctrl::codec
