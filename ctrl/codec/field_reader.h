// SPDX-License-Identifier: Apache-2.0
// Reading the fields of a JSON object one by one, with a sentence that names the first wrong one.
// Knows no state and no decision.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/result.h"

namespace flowcon::ctrl::codec {

/// "NAME[INDEX]", the place of an element in complaints.
[[nodiscard]] std::string indexed(std::string_view name, std::size_t index);

/// Reads fields of one object and keeps the first complaint, so that a reader is a list of fields
/// and one look at the end. Whatever is wrong reads as zero, empty or false.
class FieldReader {
 public:
  /// `path` is the object's place in the whole, empty at the top. `value` must outlive the reader;
  /// that it is no object is the first complaint.
  FieldReader(const boost::json::value& value, std::string path);

  /// Where the field `name` is in the whole: "containers[3].name".
  [[nodiscard]] std::string place(std::string_view name) const;

  /// Null where the field is missing; whether that is an error is the caller's to say.
  [[nodiscard]] const boost::json::value* find(std::string_view name) const;

  /// The field, whatever it is; the null value where it is missing.
  const boost::json::value& member(std::string_view name);

  double number(std::string_view name);
  std::optional<double> number_or_null(std::string_view name);
  std::optional<double> optional_number(std::string_view name);  ///< null counts as absent

  /// A number of things: whole, from 0 to 2^53, beyond which a double counts no longer.
  std::int64_t count(std::string_view name);

  bool boolean(std::string_view name);
  bool optional_bool(std::string_view name);  ///< null counts as absent, absent as false

  std::string text(std::string_view name);
  std::string text_of(const boost::json::value& value, std::string_view name);

  const boost::json::array& array(std::string_view name);

  /// What read(FieldReader&) makes of each element of the array `name`, up to the first complaint.
  template <class Read>
  auto each(std::string_view name, Read read);

  /// Complains that the field `name`, which is there, `rule` ("must be …").
  void require(bool holds, std::string_view name, const char* rule);

  /// Complains of the first of `items`, read from the array `name`, whose id one before it has.
  template <class Items>
  void require_unique_ids(std::string_view name, const Items& items);

  void complain(std::string_view name, const std::string& what);
  void complain_of_repeated(std::string_view name, std::string_view id);
  void take_complaint(const FieldReader& inner);

  [[nodiscard]] bool failed() const { return !complaint_.empty(); }
  [[nodiscard]] Error error() const { return bad_input(complaint_); }

 private:
  const boost::json::value* required(std::string_view name);

  const boost::json::object* object_ = nullptr;
  std::string path_;
  std::string complaint_;
};

template <class Read>
auto FieldReader::each(std::string_view name, Read read) {
  const boost::json::array& elements = array(name);
  const std::string at = place(name);
  std::vector<decltype(read(*this))> items;
  items.reserve(elements.size());
  for (std::size_t i = 0; i < elements.size() && !failed(); ++i) {
    FieldReader inner(elements[i], indexed(at, i));
    items.push_back(read(inner));
    take_complaint(inner);
  }
  return items;
}

template <class Items>
void FieldReader::require_unique_ids(std::string_view name, const Items& items) {
  std::unordered_set<std::string_view> ids;
  for (std::size_t i = 0; i < items.size() && !failed(); ++i) {
    if (!ids.insert(items[i].id).second) {
      complain_of_repeated(indexed(name, i) + ".id", items[i].id);
    }
  }
}

}  // namespace flowcon::ctrl::codec
