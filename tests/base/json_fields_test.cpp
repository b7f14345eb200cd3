// SPDX-License-Identifier: Apache-2.0
#include "base/json_fields.h"

#include "tests/support/catch.h"

using namespace flowcon;

namespace {

enum class Colour { red, green };
const char* name(Colour colour) { return colour == Colour::red ? "red" : "green"; }
std::optional<Colour> parse_colour(std::string_view word) {
  for (const Colour one : {Colour::red, Colour::green}) {
    if (word == name(one)) return one;
  }
  return std::nullopt;
}
constexpr std::array<const char*, 2> kLights{"stop", "go"};

struct Wheel {
  std::string id;
  double size = 1;
};

void fields(auto& io, Is<Wheel> auto& wheel) {
  io("id", wheel.id);
  positive(io, "size", wheel.size);
}

struct Cart {
  bool is_old = false;
  std::int64_t load = 0;
  std::uint32_t trips = 0;
  double share = 0;
  std::optional<double> weight;
  std::optional<Wheel> spare;
  std::vector<Wheel> wheels;
};

void fields(auto& io, Is<Cart> auto& cart) {
  io("old", cart.is_old);
  io("load", cart.load);
  io("trips", cart.trips, 1000);
  io("share", cart.share, 0, 1);
  io("weight", cart.weight);
  io("spare", cart.spare);
  io("wheels", cart.wheels);
  io.require_unique_ids("wheels", cart.wheels);
}

constexpr const char* kCart =
    R"({"old":true,"load":7,"trips":3,"share":0.5,"weight":null,"spare":{"id":"s","size":2},)"
    R"("wheels":[{"id":"a","size":1},{"id":"b","size":1.5}]})";

// The complaint of the text with `from` in the place of `to`.
std::string complaint(std::string_view from, const std::string& to) {
  std::string text = kCart;
  text.replace(text.find(from), from.size(), to);
  const Result<Cart> cart = read_json<Cart>(*parse_json(text));
  return cart ? "" : cart.error().message();
}

struct Options {
  bool is_fast = false;
  double gain = 3;
  std::optional<std::int64_t> seats;
  std::optional<double> width;
  Colour colour = Colour::red;
};

void fields(auto& io, Is<Options> auto& options) {
  const Options plain;
  io.optional("fast", options.is_fast, plain.is_fast);
  io.optional("gain", options.gain, plain.gain, 0, 9);
  io.optional("seats", options.seats);
  io.nullable("width", options.width);
  if (io.has("colour", options.colour != plain.colour)) {
    io.one_of("colour", options.colour, {Colour::red, Colour::green}, "must be red or green");
  }
}

struct Words {
  Colour colour = Colour::red;
  int light = 0;
  std::string loud;
  std::string said;
};

void fields(auto& io, Is<Words> auto& words) {
  io.one_of("colour", words.colour, parse_colour, "must be red or green");
  io.leave_room("said");
  io.one_of("light", words.light, kLights, "must be stop or go");
  io.cleaned("loud", words.loud, [](const std::string& text) { return text + "!"; });
  io.as("said", words.said, &FieldReader::text, [](const std::string& text) { return text + "?"; });
}

struct Yard {
  std::vector<Wheel> left;
  std::vector<Wheel> right;
};

void fields(auto& io, Is<Yard> auto& yard) {
  std::unordered_set<std::string_view> seen;
  if (io.is_longer("left", 2)) io.complain("left", "must be 2 at most");
  const auto visit = [](auto& inner, auto& wheel) { inner("wheel", wheel.id); };
  io.each("left", yard.left, visit);
  io.require_unique_ids("left", yard.left, OwnId(), seen);
  io.each("right", yard.right, visit);
  io.require_unique_ids("right", yard.right, OwnId(), seen);
}

template <class T>
std::string again(const std::string& text) {
  const Result<T> read = read_json<T>(*parse_json(text));
  return read ? render_json(fields_json(*read)) : read.error().message();
}

}  // namespace

TEST_CASE("fields that are named once are read and written") {
  const Result<Cart> cart = read_json<Cart>(*parse_json(kCart));
  REQUIRE(cart.has_value());
  CHECK(cart->is_old);
  CHECK(cart->load == 7);
  CHECK(cart->trips == 3);
  CHECK(cart->share == 0.5);
  CHECK_FALSE(cart->weight.has_value());
  REQUIRE(cart->spare.has_value());
  CHECK(cart->spare->size == 2);
  REQUIRE(cart->wheels.size() == 2);
  CHECK(cart->wheels[1].id == "b");
  CHECK(render_json(fields_json(*cart)) == kCart);
}

TEST_CASE("fields are held to their kinds and limits, and named by their place") {
  CHECK(complaint("true", "1") == "old: must be true or false, not 1");
  CHECK(complaint("\"load\"", "\"road\"") == "load: is missing");
  CHECK(complaint("\"load\":7", "\"load\":0.5") ==
        "load: must be a whole number from 0 to 2^53, not 0.5");
  CHECK(complaint("\"trips\":3", "\"trips\":4294967297") ==
        "trips: must be at most 1000, not 4294967297");
  CHECK(complaint("0.5", "2") == "share: is out of its range, not 2");
  CHECK(complaint("null", "\"x\"") == "weight: must be a number or null, not \"x\"");
  CHECK(complaint(R"({"id":"s","size":2})", "null").empty());
  CHECK(complaint("1.5", "0") == "wheels[1].size: must be above 0, not 0");
  CHECK(complaint("\"b\"", "\"a\"") == "wheels[1].id: is there twice: \"a\"");
  CHECK(read_json<Wheel>(*parse_json("{}"), "spare").error().message() == "spare.id: is missing");
}

TEST_CASE("an optional field is left out where it is as usual, and null is as usual") {
  CHECK(again<Options>("{}") == R"({"width":null})");
  CHECK(again<Options>(R"({"fast":null,"gain":null,"seats":null,"colour":null})") ==
        R"({"width":null})");
  CHECK(again<Options>(R"({"fast":false,"gain":3,"colour":"red"})") == R"({"width":null})");
  const std::string all = R"({"fast":true,"gain":2,"seats":4,"width":1.5,"colour":"green"})";
  CHECK(again<Options>(all) == all);
  CHECK(again<Options>(R"({"gain":10})") == "gain: is out of its range, not 10");
  CHECK(again<Options>(R"({"colour":"blue"})") == "colour: must be red or green, not \"blue\"");
}

TEST_CASE("a field may have words, or two functions, and its place where it is read later") {
  CHECK(again<Words>(R"({"colour":"green","light":"go","loud":"no","said":"yes"})") ==
        R"({"colour":"green","said":"yes?","light":"go","loud":"no!!"})");
  CHECK(again<Words>(R"({"colour":"blue"})") == "colour: must be red or green, not \"blue\"");
  CHECK(again<Words>(R"({"colour":"red","light":"run"})") ==
        "light: must be stop or go, not \"run\"");
}

TEST_CASE("a list is visited by a function, is counted first, and shares its ids with others") {
  const std::string yard = R"({"left":[{"wheel":"a"},{"wheel":"b"}],"right":[{"wheel":"c"}]})";
  CHECK(again<Yard>(yard) == yard);
  CHECK(again<Yard>(R"({"left":[{"wheel":"a"}],"right":[{"wheel":"c"},{"wheel":"a"}]})") ==
        "right[1].id: is there twice: \"a\"");
  CHECK(again<Yard>(R"({"left":[1,2,3],"right":[]})") == "left: must be 2 at most");
}
