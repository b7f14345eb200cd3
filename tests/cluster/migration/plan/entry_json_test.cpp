// SPDX-License-Identifier: Apache-2.0
#include "cluster/migration/plan/entry_json.h"

#include "base/json.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::migration {
namespace {

Entry some_entry() {
  Entry entry;
  entry.id = std::string(32, 'a');
  entry.side = Side::target;
  entry.container = std::string(64, '1');
  entry.name = "job-1";
  entry.source = std::string(32, 'b');
  entry.target = std::string(32, 'c');
  entry.method = Method::criu;
  entry.step = Step::confirm;
  entry.attempt = 7;
  entry.reason = "it's \"there\"";
  return entry;
}

// What is said of some_entry() with one member changed.
std::string error_with(const char* name, const boost::json::value& value) {
  boost::json::value whole = *parse_json(render(some_entry()));
  whole.as_object()[name] = value;
  const auto parsed = read_entry(whole);
  return parsed ? "" : parsed.error().message();
}

TEST_CASE("how long a copy runs is a number, or it is not said") {
  CHECK(running_for(boost::json::object{{"running_for", 2.5}}) == 2.5);
  CHECK(running_for(boost::json::object{{"running_for", 3}}) == 3.0);
  CHECK_FALSE(running_for(boost::json::object{{"running_for", "inf"}}));
  CHECK_FALSE(running_for(boost::json::object{{"entry", 1}}));
  CHECK_FALSE(running_for(7));
}

TEST_CASE("an entry is read back as it was written") {
  const std::string text = render(some_entry());
  CHECK(text ==
        R"({"id":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","side":"target","container":")" +
            std::string(64, '1') +
            R"(","name":"job-1","source":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",)" +
            R"("target":"cccccccccccccccccccccccccccccccc","method":"criu","step":"confirm",)" +
            R"("has_saved":false,"attempt":7,"reason":"it's \"there\""})");
  const auto parsed = parse_entry(text);
  REQUIRE(parsed.has_value());
  CHECK(render(*parsed) == text);
  CHECK(parsed->step == Step::confirm);
  CHECK(parsed->attempt == 7);
  Entry source = some_entry();
  source.side = Side::source;
  source.step = Step::undo;
  source.has_saved = true;
  source.container.clear();
  const auto again = parse_entry(render(source));
  REQUIRE(again.has_value());
  CHECK(again->has_saved);
  CHECK(again->side == Side::source);
  CHECK(again->container.empty());
}

TEST_CASE("an entry's member that is not what it may be is named") {
  const std::pair<const char*, boost::json::value> wrong[] = {
      {"id", "A"},          {"id", 7},        {"side", "both"},     {"container", "../x"},
      {"name", "-rf"},      {"name", "a\nb"}, {"source", ""},       {"target", nullptr},
      {"method", "ssh"},    {"step", "save"}, {"step", "Confirm"},  {"attempt", -1},
      {"attempt", 1 << 30}, {"attempt", 1.5}, {"attempt", nullptr},
  };
  for (const auto& [name, value] : wrong) {
    INFO(name);
    CHECK(error_with(name, value) ==
          "a migration's entry has no valid member " + std::string(name));
  }
  CHECK(error_with("target", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb") ==
        "a migration's entry has no valid member target");
  // Of an older flowcond: it ends all the same.
  CHECK(error_with("name", boost::json::value(std::string(64, 'e'))).empty());
  CHECK(error_with("unknown", 1).empty());
  CHECK(error_with("unknown", boost::json::value(std::string(kMaxEntryBytes, 'x'))) ==
        "a migration's entry is too large");
  CHECK_FALSE(parse_entry("").has_value());
  CHECK_FALSE(parse_entry("[]").has_value());
  CHECK_FALSE(parse_entry(std::string(kMaxEntryBytes + 1, ' ')).has_value());
}

TEST_CASE("a reason from a peer is made safe to show, and cut") {
  Entry entry = some_entry();
  entry.reason = "\x1b[2J" + std::string(2000, 'x');
  const auto parsed = parse_entry(render(entry));
  REQUIRE(parsed.has_value());
  CHECK(parsed->reason.size() <= 500);
  CHECK(parsed->reason.find('\x1b') == std::string::npos);
}

TEST_CASE("only the other side of the same move is heard") {
  const Entry ours = some_entry();
  Entry theirs = ours;
  CHECK_FALSE(is_other_side(ours, theirs));
  theirs.side = Side::source;
  CHECK(is_other_side(ours, theirs));
  theirs.container = std::string(64, '2');  // each side has its own
  CHECK(is_other_side(ours, theirs));
  for (std::string Entry::*const member :
       {&Entry::id, &Entry::name, &Entry::source, &Entry::target}) {
    Entry other = theirs;
    other.*member = std::string(32, 'f');
    CHECK_FALSE(is_other_side(ours, other));
  }
}

}  // namespace
}  // namespace flowcon::cluster::migration
