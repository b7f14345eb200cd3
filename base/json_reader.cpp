// SPDX-License-Identifier: Apache-2.0
#include "base/json_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace flowcon {
namespace {

// What stands there, short enough for one line.
std::string shown(const json::value& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  if (const json::string* text = value.if_string()) return '"' + printable(*text, 40) + '"';
  return printable(render_json(value), 40);
}

}  // namespace

const json::value& member(const json::object& object, std::string_view name) {
  static const json::value nothing;
  const json::value* value = object.if_contains(name);
  return value != nullptr ? *value : nothing;
}

const json::value& member(const json::value& value, std::string_view name) {
  return member(object_of(value), name);
}

std::string text_of(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : "";
}

std::string text_of(const json::object& object, std::string_view name) {
  return text_of(member(object, name));
}

std::string text_of(const json::value& value, std::string_view name) {
  return text_of(member(value, name));
}

std::string text_in(std::string_view json, std::string_view name) {
  const Result<json::value> parsed = parse_json(json);
  return parsed ? text_of(*parsed, name) : "";
}

const json::array& list_of(const json::value& value) {
  static const json::array none;
  return value.is_array() ? value.get_array() : none;
}

const json::array& list_of(const json::value& value, std::string_view name) {
  return list_of(member(value, name));
}

const json::value& item_of(const json::value& list, std::size_t index) {
  static const json::value nothing;
  const json::array& items = list_of(list);
  return index < items.size() ? items[index] : nothing;
}

const json::object& object_of(const json::value& value) {
  static const json::object none;
  return value.is_object() ? value.get_object() : none;
}

const json::object& object_of(const json::value& value, std::string_view name) {
  return object_of(member(value, name));
}

bool is_true(const json::value& value) { return value.is_bool() && value.get_bool(); }

bool is_true(const json::value& value, std::string_view name) {
  return is_true(member(value, name));
}

std::optional<double> real_of(const json::value& value) {
  if (value.is_number()) return value.to_number<double>();
  const std::string word = text_of(value);
  if (word == "nan") return std::nan("");
  if (word == "inf") return HUGE_VAL;
  if (word == "-inf") return -HUGE_VAL;
  return std::nullopt;
}

json::value number_or_null(const json::value& value) {
  return real_of(value) ? value : json::value();
}

json::value text_or_null(const json::value& value) {
  return value.is_string() ? value : json::value();
}

bool is_nothing(const json::value& value) {
  if (value.is_number()) return value.to_number<double>() == 0;
  if (value.is_string()) return value.get_string().empty();
  if (value.is_array()) return value.get_array().empty();
  if (value.is_object()) return value.get_object().empty();
  return !is_true(value);
}

std::string indexed(std::string_view name, std::size_t index) {
  return std::string(name) + '[' + std::to_string(index) + ']';
}

PlainFieldReader::PlainFieldReader(const json::value& value, std::string path)
    : path_(std::move(path)) {
  object_ = value.if_object();
  if (!object_) complain("", "must be an object, not " + shown(value));
}

std::string PlainFieldReader::place(std::string_view name) const {
  std::string place = path_;
  if (!path_.empty() && !name.empty()) place += '.';
  return place.append(name);
}

const json::value* PlainFieldReader::find(std::string_view name) const {
  return object_ ? object_->if_contains(name) : nullptr;
}

bool PlainFieldReader::has(std::string_view name) const {
  const json::value* value = find(name);
  return value && !value->is_null();
}

const json::value& PlainFieldReader::member(std::string_view name) {
  static const json::value kNull;
  const json::value* value = required(name);
  return value ? *value : kNull;
}

double PlainFieldReader::number(std::string_view name) {
  const json::value* value = required(name);
  if (!value) return 0;
  if (!value->is_number()) {
    complain(name, "must be a number, not " + shown(*value));
    return 0;
  }
  return value->to_number<double>();
}

double PlainFieldReader::number(std::string_view name, double low, double high) {
  const double number = this->number(name);
  require(number >= low && number <= high, name, "is out of its range");
  return number;
}

std::optional<double> PlainFieldReader::number_or_null(std::string_view name) {
  const json::value* value = required(name);
  if (!value || value->is_null()) return std::nullopt;
  if (!value->is_number()) {
    complain(name, "must be a number or null, not " + shown(*value));
    return std::nullopt;
  }
  return value->to_number<double>();
}

std::optional<double> PlainFieldReader::optional_number(std::string_view name) {
  if (!has(name)) return std::nullopt;
  return number(name);
}

std::int64_t PlainFieldReader::count(std::string_view name) {
  const double number = this->number(name);
  const bool is_whole = number >= 0 && number <= kMostCounted && std::floor(number) == number;
  require(is_whole, name, "must be a whole number from 0 to 2^53");
  return is_whole ? static_cast<std::int64_t>(number) : 0;
}

std::int64_t PlainFieldReader::count(std::string_view name, std::int64_t most) {
  const std::int64_t number = count(name);
  require(number <= most, name, ("must be at most " + std::to_string(most)).c_str());
  return std::min(number, most);
}

bool PlainFieldReader::boolean(std::string_view name) {
  const json::value* value = required(name);
  if (!value) return false;
  if (!value->is_bool()) complain(name, "must be true or false, not " + shown(*value));
  return value->is_bool() && value->get_bool();
}

bool PlainFieldReader::optional_bool(std::string_view name) { return has(name) && boolean(name); }

std::string PlainFieldReader::text(std::string_view name) {
  const json::value* value = required(name);
  if (!value) return {};
  return text_of(*value, name);
}

std::string PlainFieldReader::text_of(const json::value& value, std::string_view name) {
  if (const json::string* text = value.if_string()) return std::string(*text);
  complain(name, "must be a string, not " + shown(value));
  return {};
}

const json::array& PlainFieldReader::array(std::string_view name) {
  static const json::array kEmpty;
  const json::value* value = required(name);
  if (!value) return kEmpty;
  if (const json::array* array = value->if_array()) return *array;
  complain(name, "must be an array, not " + shown(*value));
  return kEmpty;
}

void PlainFieldReader::require(bool holds, std::string_view name, const char* rule) {
  if (holds || !complaint_.empty()) return;
  const json::value* value = find(name);
  complain(name, std::string(rule) + ", not " + shown(value ? *value : json::value()));
}

void PlainFieldReader::complain(std::string_view name, const std::string& what) {
  if (!complaint_.empty()) return;
  complaint_ = printable(place(name));  // names can be the state's own
  if (complaint_.empty()) complaint_ = "the state";
  complaint_ += ": " + what;
}

void PlainFieldReader::complain_of_repeated(std::string_view name, std::string_view id) {
  complain(name, "is there twice: \"" + printable(id, 40) + '"');
}

void PlainFieldReader::take_complaint(const PlainFieldReader& inner) {
  if (complaint_.empty()) complaint_ = inner.complaint_;
}

const json::value* PlainFieldReader::required(std::string_view name) {
  const json::value* value = find(name);
  if (!value) complain(name, "is missing");
  return value;
}

}  // namespace flowcon
