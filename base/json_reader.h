// SPDX-License-Identifier: Apache-2.0
// Reads JSON that comes from elsewhere. The lookups take whatever is missing or of another type as
// nothing; FieldReader complains of it in a sentence that names the field.
#pragma once

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace flowcon {

/// The member; null where it is missing or `value` is no object.
[[nodiscard]] const boost::json::value& member(const boost::json::object& object,
                                               std::string_view name);
[[nodiscard]] const boost::json::value& member(const boost::json::value& value,
                                               std::string_view name);

/// A string's text; "" for anything else.
[[nodiscard]] std::string text_of(const boost::json::value& value);
[[nodiscard]] std::string text_of(const boost::json::object& object, std::string_view name);
[[nodiscard]] std::string text_of(const boost::json::value& value, std::string_view name);

/// The text of the member `name` of the JSON object that `json` is; "" where it is none.
[[nodiscard]] std::string text_in(std::string_view json, std::string_view name);

/// The elements of a list; none for anything else.
[[nodiscard]] const boost::json::array& list_of(const boost::json::value& value);
[[nodiscard]] const boost::json::array& list_of(const boost::json::value& value,
                                                std::string_view name);

/// The element of a list; null where there is none.
[[nodiscard]] const boost::json::value& item_of(const boost::json::value& list, std::size_t index);

/// The members of an object; none for anything else.
[[nodiscard]] const boost::json::object& object_of(const boost::json::value& value);
[[nodiscard]] const boost::json::object& object_of(const boost::json::value& value,
                                                   std::string_view name);

/// True for true, false for anything else.
[[nodiscard]] bool is_true(const boost::json::value& value);
[[nodiscard]] bool is_true(const boost::json::value& value, std::string_view name);

/// A number, or one of the words nan, inf and -inf for those that JSON does not know; empty for
/// anything else.
[[nodiscard]] std::optional<double> real_of(const boost::json::value& value);

/// The value where it is such a number or a string, else null.
[[nodiscard]] boost::json::value number_or_null(const boost::json::value& value);
[[nodiscard]] boost::json::value text_or_null(const boost::json::value& value);

/// Is the value null, false, 0, "", [] or {}?
[[nodiscard]] bool is_nothing(const boost::json::value& value);

/// "NAME[INDEX]", the place of an element in complaints.
[[nodiscard]] std::string indexed(std::string_view name, std::size_t index);

struct OwnId {
  const std::string& operator()(const auto& item) const { return item.id; }
};

class FieldReader;

/// The object that its fields(io, value) reads, see base/json_fields.h.
template <class T>
T value_in(FieldReader& reader) {
  T value;
  fields(reader, value);
  return value;
}

/// Reads plain fields of one object and keeps the first complaint. Whatever is wrong reads as zero,
/// empty or false.
class PlainFieldReader {
 public:
  /// `path` is the object's place in the whole, empty at the top. `value` must outlive the reader;
  /// that it is no object is the first complaint.
  PlainFieldReader(const boost::json::value& value, std::string path);

  /// Where the field `name` is in the whole: "containers[3].name".
  [[nodiscard]] std::string place(std::string_view name) const;

  /// Null where the field is missing; whether that is an error is the caller's to say.
  [[nodiscard]] const boost::json::value* find(std::string_view name) const;

  /// Is the field there, and not null?
  [[nodiscard]] bool has(std::string_view name) const;

  /// The field, whatever it is; the null value where it is missing.
  const boost::json::value& member(std::string_view name);

  double number(std::string_view name);
  /// Complains of a number that is not from `low` to `high`.
  double number(std::string_view name, double low, double high);
  std::optional<double> number_or_null(std::string_view name);
  std::optional<double> optional_number(std::string_view name);  ///< null counts as absent

  /// Beyond 2^53 a double counts no longer.
  static constexpr std::int64_t kMostCounted = std::int64_t{1} << 53;
  /// A number of things: whole, from 0 to that.
  std::int64_t count(std::string_view name);
  /// Complains of more than `most`, and reads it as `most`.
  std::int64_t count(std::string_view name, std::int64_t most);

  bool boolean(std::string_view name);
  bool optional_bool(std::string_view name);  ///< null counts as absent, absent as false

  std::string text(std::string_view name);
  std::string text_of(const boost::json::value& value, std::string_view name);

  const boost::json::array& array(std::string_view name);

  /// Complains that the field `name`, which is there, `rule` ("must be …").
  void require(bool holds, std::string_view name, const char* rule);
  void complain(std::string_view name, const std::string& what);
  void complain_of_repeated(std::string_view name, std::string_view id);
  void take_complaint(const PlainFieldReader& inner);

  [[nodiscard]] bool failed() const { return !complaint_.empty(); }
  [[nodiscard]] Error error() const { return bad_input(complaint_); }

 private:
  const boost::json::value* required(std::string_view name);

  const boost::json::object* object_ = nullptr;
  std::string path_;
  std::string complaint_;
};

/// Reads the objects and lists in it, too, so that a reader is a list of fields and one look at the
/// end.
class FieldReader : public PlainFieldReader {
 public:
  using PlainFieldReader::PlainFieldReader;

  /// The one of `values` whose name() is the text of the field; else complains that it `rule`, and
  /// reads the first.
  template <class Value>
  Value one_of(std::string_view name, std::initializer_list<Value> values, const char* rule);

  /// What read(FieldReader&) makes of each element of the array `name`, up to the first complaint.
  template <class Read>
  auto each(std::string_view name, Read read);

  /// What read(FieldReader&) makes of the object `name`.
  template <class Read>
  auto object(std::string_view name, Read read);
  /// The same; empty where the field is missing or null.
  template <class Read>
  auto optional_object(std::string_view name, Read read);

  /// Complains of the first of `items`, read from the array `name`, whose id one before it has, or
  /// that is among those `seen`, to which theirs come.
  template <class Items, class IdOf>
  void require_unique_ids(std::string_view name, const Items& items, IdOf id_of,
                          std::unordered_set<std::string_view>& seen);
  template <class Items, class IdOf = OwnId>
  void require_unique_ids(std::string_view name, const Items& items, IdOf id_of = {}) {
    std::unordered_set<std::string_view> seen;
    require_unique_ids(name, items, id_of, seen);
  }

  // What fields(io, value) calls, see base/json_fields.h. By its type a field is read by boolean(),
  // number(), number_or_null(), text() or count(), is an object or a list of such, or null.
  static constexpr bool kReads = true;
  void operator()(std::string_view name, bool& value) { value = boolean(name); }
  void operator()(std::string_view name, double& value) { value = number(name); }
  void operator()(std::string_view name, std::string& value) { value = text(name); }
  void operator()(std::string_view name, std::int64_t& value) { value = count(name); }
  void operator()(std::string_view name, std::optional<double>& value) {
    value = number_or_null(name);
  }
  template <class T>
  void operator()(std::string_view name, std::vector<T>& value) {
    value = each(name, value_in<T>);
  }
  template <class T, class Visit>
  void each(std::string_view name, std::vector<T>& items, Visit visit) {
    items = each(name, [&visit](FieldReader& inner) {
      T item;
      visit(inner, item);
      return item;
    });
  }
  template <class T>
  void operator()(std::string_view name, std::optional<T>& value) {
    value = optional_object(name, value_in<T>);
  }
  template <class T>
  void operator()(std::string_view name, T& value) {
    value = object(name, value_in<T>);
  }
  void operator()(std::string_view name, double& value, double low, double high) {
    value = number(name, low, high);
  }
  template <class Count>
  void operator()(std::string_view name, Count& value, std::int64_t most) {
    static_assert(std::is_integral_v<Count>);
    value = static_cast<Count>(count(name, most));
  }
  template <class T, class... Limits>
  void optional(std::string_view name, T& value, const std::type_identity_t<T>& otherwise,
                Limits... limits) {
    value = otherwise;
    if (has(name)) (*this)(name, value, limits...);
  }
  template <class T, class... Limits>
  void optional(std::string_view name, std::optional<T>& value, Limits... limits) {
    value.reset();
    if (has(name)) (*this)(name, value.emplace(), limits...);
  }
  template <class T, class... Limits>
  void nullable(std::string_view name, std::optional<T>& value, Limits... limits) {
    optional(name, value, limits...);
  }
  template <class Value>
  void one_of(std::string_view field, Value& value, std::initializer_list<Value> values,
              const char* rule) {
    value = one_of(field, values, rule);
  }
  template <class Value, class Parse>
  void one_of(std::string_view field, Value& value, Parse parse, const char* rule) {
    const std::optional<Value> parsed = parse(text(field));
    require(parsed.has_value(), field, rule);
    value = parsed.value_or(Value());
  }
  template <class Value, std::size_t kSize>
  void one_of(std::string_view field, Value& value, const std::array<const char*, kSize>& words,
              const char* rule) {
    const auto found = std::find(words.begin(), words.end(), text(field));
    require(found != words.end(), field, rule);
    value = found == words.end() ? Value() : static_cast<Value>(found - words.begin());
  }
  template <class T, class Clean, class... Limits>
  void cleaned(std::string_view name, T& value, Clean clean, Limits... limits) {
    (*this)(name, value, limits...);
    value = clean(value);
  }
  template <class T, class Read, class... Write>
  void as(std::string_view name, T& value, Read read, const Write&...) {
    value = std::invoke(read, *this, name);
  }
  using PlainFieldReader::has;
  [[nodiscard]] bool has(std::string_view name, bool) const { return has(name); }
  [[nodiscard]] bool is_longer(std::string_view name, std::size_t most) {
    return array(name).size() > most;
  }
  void leave_room(std::string_view) {}
};

template <class Value>
Value FieldReader::one_of(std::string_view field, std::initializer_list<Value> values,
                          const char* rule) {
  const std::string word = text(field);
  for (const Value value : values) {
    if (word == name(value)) return value;
  }
  require(false, field, rule);
  return *values.begin();
}

template <class Read>
auto FieldReader::each(std::string_view name, Read read) {
  const boost::json::array& elements = array(name);
  const std::string at = place(name);
  std::vector<decltype(read(*this))> items;
  if (!failed()) items.reserve(elements.size());
  for (std::size_t i = 0; i < elements.size() && !failed(); ++i) {
    FieldReader inner(elements[i], indexed(at, i));
    items.push_back(read(inner));
    take_complaint(inner);
  }
  return items;
}

template <class Read>
auto FieldReader::object(std::string_view name, Read read) {
  FieldReader inner(member(name), place(name));
  auto made = read(inner);
  take_complaint(inner);
  return made;
}

template <class Read>
auto FieldReader::optional_object(std::string_view name, Read read) {
  std::optional<decltype(read(*this))> made;
  if (has(name)) made = object(name, read);
  return made;
}

template <class Items, class IdOf>
void FieldReader::require_unique_ids(std::string_view name, const Items& items, IdOf id_of,
                                     std::unordered_set<std::string_view>& seen) {
  for (std::size_t i = 0; i < items.size() && !failed(); ++i) {
    if (seen.insert(id_of(items[i])).second) continue;
    complain_of_repeated(indexed(name, i) + ".id", id_of(items[i]));
  }
}

/// What read(FieldReader&) makes of the JSON object that `text` is. Errors: not JSON; the reader's
/// first complaint.
template <class Read>
auto read_fields(std::string_view text, Read read)
    -> Result<decltype(read(std::declval<FieldReader&>()))> {
  const Result<boost::json::value> parsed = parse_json(text);
  if (!parsed) return parsed.error();
  FieldReader reader(*parsed, "");
  auto made = read(reader);
  if (reader.failed()) return reader.error();
  return made;
}

}  // namespace flowcon
