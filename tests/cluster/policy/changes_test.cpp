// SPDX-License-Identifier: Apache-2.0
#include "ctrl/policy/changes.h"

#include "base/json.h"
#include "cluster/policy/algorithms.h"
#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::ctrl::policy;

namespace {

std::vector<PlaceChange> changes(std::string_view algorithm, const std::string& state,
                                 const std::string& decision) {
  const Result<boost::json::value> before = parse_json(state);
  const Result<boost::json::value> after = parse_json(decision);
  REQUIRE(before.has_value());
  REQUIRE(after.has_value());
  return cluster::policy::find_algorithm(algorithm)->changes(*before, *after);
}

}  // namespace

TEST_CASE("a round changes those whose list or limit is another one") {
  const auto found = changes("executor",
                             R"({"containers":[{"id":"a","list":"NL","limit":null,"growth":0.5},
      {"id":"b","list":"NL","limit":1,"growth":0.01},{"id":"c","list":"CL","limit":0.25,"growth":null}]})",
                             R"({"containers":[{"id":"a","list":"NL","limit":1},
      {"id":"b","list":"WL","limit":1},{"id":"c","list":"CL","limit":0.25},{"id":"d","list":"NL","limit":1}]})");
  REQUIRE(found.size() == 2);
  CHECK(found[0].id == "a");
  CHECK_FALSE(found[0].from_limit);
  CHECK(found[0].limit == 1);
  CHECK(found[0].growth == 0.5);
  CHECK(found[1].from == "NL");
  CHECK(found[1].to == "WL");
}

TEST_CASE("categories change, and moves are about a place") {
  const auto categories = changes("categorise", R"({"containers":[{"id":"a","category":"PC"}]})",
                                  R"({"containers":[{"id":"a","category":"WC","growth":0.2}]})");
  REQUIRE(categories.size() == 1);
  CHECK(categories[0].to == "WC");
  CHECK(categories[0].growth == 0.2);
  CHECK(changes("speculate", R"({"container":"a"})", R"({"move":false})").empty());
  CHECK(changes("speculate", R"({"container":"a"})", R"({"move":true})").at(0).id == "a");
  CHECK(changes("balance", "{}", R"({"moves":[{"container":"b","from":"x","to":"y"}]})").at(0).id ==
        "b");
  CHECK(
      changes("rebalance", "{}", R"({"moves":[{"container":"b","from":"x","to":"y"}]})").at(0).id ==
      "b");
}

TEST_CASE("a rank that is another one is a change, and so is a newcomer's") {
  const auto found = changes("milestone",
                             R"({"containers":[{"id":"a","before":0,"share":0.88},
      {"id":"b","before":1,"share":0.12},{"id":"c","before":null,"share":null}]})",
                             R"({"containers":[{"id":"a","rank":0,"share":0.865},
      {"id":"b","rank":2,"share":0.02},{"id":"c","rank":1,"share":0.115}]})");
  REQUIRE(found.size() == 2);
  CHECK(found[0].id == "b");
  CHECK(found[0].from == "rank 2");
  CHECK(found[0].to == "rank 3");
  CHECK(found[0].from_limit == 0.12);
  CHECK(found[0].limit == 0.02);
  CHECK_FALSE(found[0].growth);
  CHECK(found[1].id == "c");
  CHECK(found[1].from.empty());
  CHECK(found[1].to == "rank 2");
  CHECK_FALSE(found[1].from_limit);
}

TEST_CASE("a share that moves at the same rank is a change from a twentieth of the host on") {
  const auto moved = [](double before, double after) {
    return changes(
               "milestone",
               R"({"containers":[{"id":"a","before":0,"share":)" + render_number(before) + "}]}",
               R"({"containers":[{"id":"a","rank":0,"share":)" + render_number(after) + "}]}")
        .size();
  };
  CHECK(moved(1, 0.88) == 1);
  CHECK(moved(0.5, 0.55) == 1);
  CHECK(moved(0.5, 0.549) == 0);
  CHECK(moved(0.88, 0.865) == 0);
  // An older flowcond did not record what the share had been.
  CHECK(changes("milestone", R"({"containers":[{"id":"a","before":0}]})",
                R"({"containers":[{"id":"a","rank":0,"share":1}]})")
            .empty());
}

TEST_CASE("a damaged round changes nothing") {
  for (const std::string wrong :
       {"7", "[]", "null", R"({"containers":7})", R"({"containers":[7,{}]})"}) {
    CHECK(changes("executor", wrong, wrong).empty());
    CHECK(changes("milestone", wrong, wrong).empty());
    CHECK(changes("rebalance", wrong, R"({"moves":7})").empty());
  }
  // A rank that is none is not shown.
  CHECK(changes("milestone", R"({"containers":[{"id":"a","before":-1},{"id":"b","before":"x"}]})",
                R"({"containers":[{"id":"a","rank":1e300},{"id":"b","rank":null},{"id":"c"}]})")
            .empty());
  CHECK(changes("listener", R"({"containers":[{"id":"a","list":"NL"}]})",
                R"({"containers":[{"id":"a","list":"CL"}]})")
            .empty());
}
