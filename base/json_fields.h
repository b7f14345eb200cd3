// SPDX-License-Identifier: Apache-2.0
// The fields of a struct as JSON, named once for both directions:
//
//   static void fields(auto& io, Is<Worker> auto& worker) {
//     io("id", worker.id);
//     io("usage", worker.usage, 0, 1);
//     io.optional("draining", worker.is_draining, false);
//     io.require(!worker.id.empty(), "id", "must not be empty");
//   }
//
// It is a static function of the struct's own namespace; in an unnamed one it would not be found.
// `io` is a FieldReader, which complains of what is wrong, or a FieldWriter, which takes all as it
// is; both have the members below. Fields are read, and complained of, in the order in which they
// are written.
#pragma once

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/json_arrays.h"
#include "base/json_reader.h"
#include "base/result.h"

namespace flowcon {

/// A type that is `Of`, or const `Of`.
template <class T, class Of>
concept Is = std::is_same_v<std::remove_const_t<T>, Of>;

/// What value_in() reads back.
template <class T>
[[nodiscard]] boost::json::object fields_json(const T& value);

/// A number, a string, what fields_json() makes of a struct, null, or an array of these.
template <class T>
[[nodiscard]] boost::json::value json_of(const T& value) {
  if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return boost::json::value(value);
  } else {
    return fields_json(value);
  }
}
template <class T>
[[nodiscard]] boost::json::value json_of(const std::vector<T>& items) {
  return rendered(items, [](const T& item) { return json_of(item); });
}
template <class T>
[[nodiscard]] boost::json::value json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : boost::json::value();
}

/// Writes fields of one object.
class FieldWriter {
 public:
  static constexpr bool kReads = false;

  /// A field of any type that FieldReader reads; numbers from low to high, counts up to a limit.
  template <class T, class... Limits>
  void operator()(std::string_view name, const T& value, Limits...) {
    put(name, json_of(value));
  }

  /// A field that may be missing or null, and is `otherwise` or empty then; is not written then.
  template <class T, class... Limits>
  void optional(std::string_view name, const T& value, const std::type_identity_t<T>& otherwise,
                Limits...) {
    if (value != otherwise) put(name, json_of(value));
  }
  template <class T, class... Limits>
  void optional(std::string_view name, const std::optional<T>& value, Limits...) {
    if (value) put(name, json_of(*value));
  }

  /// The same, but written as null where it is empty.
  template <class T, class... Limits>
  void nullable(std::string_view name, const std::optional<T>& value, Limits...) {
    put(name, json_of(value));
  }

  /// One of the values that name() has a word for, all of them or those that parse() knows; with an
  /// array of words, the one at the value's place. Another word is a complaint, that it `rule`.
  template <class Value>
  void one_of(std::string_view field, Value value, std::initializer_list<Value>, const char*) {
    put(field, name(value));
  }
  template <class Value, class Parse>
  void one_of(std::string_view field, Value value, Parse, const char*) {
    put(field, name(value));
  }
  template <class Value, std::size_t kSize>
  void one_of(std::string_view field, Value value, const std::array<const char*, kSize>& words,
              const char*) {
    put(field, words.at(static_cast<std::size_t>(value)));
  }

  /// What visit(io, item) reads or writes of each item.
  template <class T, class Visit>
  void each(std::string_view name, const std::vector<T>& items, Visit visit) {
    put(name, rendered(items, [&visit](const T& item) {
          FieldWriter inner;
          visit(inner, item);
          return inner.take();
        }));
  }

  /// What clean(value) makes of it, once it is read and before it is written.
  template <class T, class Clean, class... Limits>
  void cleaned(std::string_view name, const T& value, Clean clean, Limits...) {
    put(name, clean(value));
  }

  /// What read(FieldReader&, name) reads; write(value) makes JSON of it, or else json_of().
  template <class T, class Read>
  void as(std::string_view name, const T& value, Read) {
    put(name, json_of(value));
  }
  template <class T, class Read, class Write>
  void as(std::string_view name, const T& value, Read, Write write) {
    put(name, write(value));
  }

  /// Is the field there, and not null? Or else: is it to be written?
  [[nodiscard]] bool has(std::string_view, bool is_written = true) const { return is_written; }

  /// Has the array more elements? To be asked before it is read.
  [[nodiscard]] bool is_longer(std::string_view, std::size_t) const { return false; }

  /// Puts the field here among the others, which is read later than it is written.
  void leave_room(std::string_view name) { put(name, nullptr); }

  [[nodiscard]] bool failed() const { return false; }
  void require(bool, std::string_view, const char*) {}
  void complain(std::string_view, std::string_view) {}
  template <class... Items>
  void require_unique_ids(std::string_view, const Items&...) {}

  template <class T>
  void put(std::string_view name, T&& value) {
    out_[name] = boost::json::value(std::forward<T>(value));
  }
  [[nodiscard]] boost::json::object take() { return std::move(out_); }

 private:
  boost::json::object out_;
};

template <class T>
boost::json::object fields_json(const T& value) {
  FieldWriter writer;
  fields(writer, value);
  return writer.take();
}

void positive(auto& io, std::string_view name, auto& number) {
  io(name, number);
  io.require(number > 0, name, "must be above 0");
}
void not_negative(auto& io, std::string_view name, auto& number) {
  io(name, number);
  io.require(number >= 0, name, "must be at least 0");
}

/// `path` is its place in complaints. Errors: the first one.
template <class T>
[[nodiscard]] Result<T> read_json(const boost::json::value& json, std::string path = "") {
  FieldReader reader(json, std::move(path));
  T value = value_in<T>(reader);
  if (reader.failed()) return reader.error();
  return value;
}

}  // namespace flowcon
