// SPDX-License-Identifier: Apache-2.0
#include "base/json_reader.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace flowcon;

namespace {

enum class Colour { red, green };
const char* name(Colour colour) { return colour == Colour::red ? "red" : "green"; }

// The complaint of a reader that `read` has used, "" where it has none.
template <class Read>
std::string complaint(std::string_view text, Read read) {
  const auto made = read_fields(text, [&](FieldReader& reader) {
    read(reader);
    return 0;
  });
  return made ? "" : made.error().message();
}

}  // namespace

TEST_CASE("a lookup takes what is missing or of another type as nothing") {
  const auto value = *parse_json(R"({"a":{"b":"text"},"list":[1],"yes":true,"n":7})");
  CHECK(text_of(member(value, "a"), "b") == "text");
  CHECK(text_of(value, "n").empty());
  CHECK(text_of(member(member(value, "n"), "x"), "y").empty());
  CHECK(list_of(value, "list").size() == 1);
  CHECK(list_of(value, "a").empty());
  CHECK(object_of(value, "a").size() == 1);
  CHECK(object_of(value, "list").empty());
  CHECK(is_true(value, "yes"));
  CHECK_FALSE(is_true(value, "n"));
  CHECK(member(value, "absent").is_null());
}

TEST_CASE("a text in JSON is found without parsing it by hand") {
  CHECK(text_in(R"({"error":"no room"})", "error") == "no room");
  CHECK(text_in(R"({"error":7})", "error").empty());
  CHECK(text_in("<html>", "error").empty());
}

TEST_CASE("numbers that JSON does not know are read from their words") {
  CHECK(*real_of(*parse_json("2.5")) == 2.5);
  CHECK(std::isnan(*real_of(*parse_json("\"nan\""))));
  CHECK(*real_of(*parse_json("\"-inf\"")) == -HUGE_VAL);
  CHECK_FALSE(real_of(*parse_json("\"7\"")));
  CHECK(number_or_null(*parse_json("\"7\"")).is_null());
}

TEST_CASE("null, false, 0 and what is empty are nothing") {
  for (const char* text : {"null", "false", "0", "0.0", "\"\"", "[]", "{}"}) {
    CHECK(is_nothing(*parse_json(text)));
  }
  for (const char* text : {"true", "1", "-0.5", "\" \"", "[0]", "{\"a\":null}"}) {
    CHECK_FALSE(is_nothing(*parse_json(text)));
  }
}

TEST_CASE("a reader names the field that is wrong, and keeps its first complaint") {
  CHECK(complaint(R"({"a":1})", [](FieldReader& r) { r.number("b"); }) == "b: is missing");
  CHECK(complaint(R"({"a":[]})", [](FieldReader& r) {
          r.number("a");
          r.text("b");
        }) == "a: must be a number, not an array");
  CHECK(complaint(R"({"all":[{"x":1},{"x":"y"}]})", [](FieldReader& r) {
          (void)r.each("all", [](FieldReader& one) { return one.number("x"); });
        }) == "all[1].x: must be a number, not \"y\"");
  CHECK(complaint("[]", [](FieldReader&) {}) == "the state: must be an object, not an array");
  CHECK(complaint("{", [](FieldReader&) {}).starts_with("not JSON"));
}

TEST_CASE("a reader holds numbers to their range and counts to their limit") {
  const auto share = [](FieldReader& r) { r.number("n", 0, 1); };
  CHECK(complaint(R"({"n":1})", share).empty());
  CHECK(complaint(R"({"n":1.5})", share) == "n: is out of its range, not 1.5");
  const auto moves = [](FieldReader& r) { r.count("n", 10); };
  CHECK(complaint(R"({"n":10})", moves).empty());
  CHECK(complaint(R"({"n":11})", moves) == "n: must be at most 10, not 11");
  CHECK(complaint(R"({"n":0.5})", moves) == "n: must be a whole number from 0 to 2^53, not 0.5");
}

TEST_CASE("a reader finds a value by its name, and takes the first where none has it") {
  const auto read = [](FieldReader& r) {
    return r.one_of("c", {Colour::red, Colour::green}, "must be red or green");
  };
  CHECK(*read_fields(R"({"c":"green"})", read) == Colour::green);
  CHECK(read_fields(R"({"c":"blue"})", read).error().message() ==
        "c: must be red or green, not \"blue\"");
}
