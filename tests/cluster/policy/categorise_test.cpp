// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/categorise.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"

namespace {

using flowcon::cluster::policy::CategorisedContainer;
using flowcon::cluster::policy::CategoriseDecision;
using flowcon::cluster::policy::CategoriseState;
using flowcon::cluster::policy::Category;
using flowcon::cluster::policy::count_categories;
using flowcon::cluster::policy::decide_categorise;
using flowcon::cluster::policy::ObservedContainer;

constexpr auto kNone = std::nullopt;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Whole numbers and an alpha of 4, so that every growth is exact.
CategoriseState state_of(std::vector<ObservedContainer> containers) {
  return {4, std::move(containers)};
}

std::string shown(const CategoriseDecision& decision) {
  std::string text;
  for (const CategorisedContainer& container : decision.containers) {
    text += container.id + ':' + name(container.category) + ' ';
  }
  return text;
}

}  // namespace

TEST_CASE("a container moves between the categories by its growth and the one before") {
  struct Row {
    Category before;
    std::optional<double> value;  // beside a previous value of 100
    std::optional<double> previous_growth;
    Category after;
  };
  const auto row = GENERATE(values<Row>({
      // Growing, from any category; a rise and a fall are growth alike.
      {Category::pc, 95, 9, Category::pc},
      {Category::wc, 95, 9, Category::pc},
      {Category::cc, 95, 9, Category::pc},
      {Category::cc, 105, kNone, Category::pc},
      // Slow and slowing further: one step.
      {Category::pc, 97, 4, Category::wc},
      {Category::wc, 97, 4, Category::cc},
      {Category::cc, 97, 4, Category::cc},
      {Category::pc, 100, 1, Category::wc},
      // Slow, but not slower than before.
      {Category::pc, 97, 3, Category::pc},
      {Category::wc, 97, 2, Category::wc},
      {Category::wc, 97, kNone, Category::wc},
      {Category::wc, 97, kNan, Category::wc},
      {Category::wc, 97, kInfinity, Category::wc},
      // Exactly alpha.
      {Category::pc, 96, 9, Category::pc},
      {Category::wc, 96, 9, Category::wc},
      {Category::cc, 96, 9, Category::cc},
      // Not measured.
      {Category::pc, kNone, 9, Category::pc},
      {Category::wc, kNone, 9, Category::wc},
      {Category::wc, kNan, 9, Category::wc},
      {Category::wc, kInfinity, 9, Category::wc},
  }));
  CAPTURE(name(row.before), row.value.value_or(-1), row.previous_growth.value_or(-1));
  const auto decision =
      decide_categorise(state_of({{"a", row.before, row.value, 100, row.previous_growth, false}}));
  CHECK(name(decision.containers.at(0).category) == std::string(name(row.after)));
}

TEST_CASE("growth is the distance of two values, empty where one of them is none") {
  const auto decision = decide_categorise(state_of({{"a", Category::pc, 7, 10, kNone, false},
                                                    {"b", Category::pc, 10, 7, kNone, true},
                                                    {"c", Category::pc, kNone, 7, 1, false},
                                                    {"d", Category::pc, 7, kNone, 1, false},
                                                    {"e", Category::pc, 7, kNan, 1, false},
                                                    {"f", Category::pc, 1e308, -1e308, 1, false}}));
  CHECK(decision.containers[0].growth == 3);
  CHECK(decision.containers[1].growth == 3);
  CHECK_FALSE(decision.containers[2].growth);
  CHECK_FALSE(decision.containers[3].growth);
  CHECK_FALSE(decision.containers[4].growth);
  CHECK(decision.containers[5].growth == kInfinity);
}

TEST_CASE("a container that reaches CC asks to move only in a later round") {
  const auto decision = decide_categorise(state_of({{"a", Category::wc, 99, 100, 2, false},
                                                    {"b", Category::cc, 99, 100, 2, false},
                                                    {"c", Category::pc, 90, 100, 12, false},
                                                    {"d", Category::pc, 90, 100, 12, false}}));
  CHECK(shown(decision) == "a:CC b:CC c:PC d:PC ");
  CHECK(decision.requests == std::vector<std::string>{"b"});
}

TEST_CASE("nobody asks to move where at most one other would gain") {
  const ObservedContainer first{"a", Category::cc, 99, 100, 2, false};
  const ObservedContainer second{"b", Category::cc, 98, 100, 3, false};
  const ObservedContainer growing{"c", Category::pc, 90, 100, kNone, false};
  const ObservedContainer watching{"d", Category::wc, kNone, 100, kNone, false};

  CHECK(decide_categorise(state_of({first, second})).requests.empty());
  CHECK(decide_categorise(state_of({first, second, growing})).requests.empty());
  CHECK(decide_categorise(state_of({first, growing, second, watching})).requests ==
        std::vector<std::string>{"a", "b"});

  SECTION("categories count as they are after the round") {
    const ObservedContainer leaving{"e", Category::wc, 99, 100, 2, false};
    CHECK(decide_categorise(state_of({first, growing, leaving})).requests.empty());
    const ObservedContainer returning{"f", Category::cc, 90, 100, 2, false};
    CHECK(decide_categorise(state_of({first, growing, returning})).requests ==
          std::vector<std::string>{"a"});
  }
  SECTION("a migrated one counts in its category") {
    ObservedContainer migrated = watching;
    migrated.migrated = true;
    CHECK(decide_categorise(state_of({first, growing, migrated})).requests ==
          std::vector<std::string>{"a"});
    migrated.category = Category::cc;
    CHECK(decide_categorise(state_of({first, growing, migrated})).requests.empty());
  }
}

TEST_CASE("a migrated container keeps its category and asks for nothing") {
  const auto decision = decide_categorise(state_of({{"a", Category::cc, 99, 100, 2, true},
                                                    {"b", Category::cc, 50, 100, 2, true},
                                                    {"c", Category::pc, 99, 100, 2, true},
                                                    {"d", Category::pc, 50, 100, 2, false},
                                                    {"e", Category::pc, 50, 100, 2, false}}));
  CHECK(shown(decision) == "a:CC b:CC c:PC d:PC e:PC ");
  CHECK(decision.requests.empty());
}

TEST_CASE("a host without containers has nothing to decide") {
  const auto decision = decide_categorise(state_of({}));
  CHECK(decision.containers.empty());
  CHECK(decision.requests.empty());
}

TEST_CASE("categories are counted for the peers") {
  const auto counts = count_categories({{"a", Category::cc, kNone},
                                        {"b", Category::pc, kNone},
                                        {"c", Category::cc, kNone},
                                        {"d", Category::wc, kNone},
                                        {"e", Category::cc, kNone},
                                        {"f", Category::wc, kNone}});
  CHECK(counts.pc == 1);
  CHECK(counts.wc == 2);
  CHECK(counts.cc == 3);
}
