// SPDX-License-Identifier: Apache-2.0
#include "ctrl/estimate/columns.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace {

using namespace flowcon::ctrl::estimate;

constexpr std::size_t kMost = Estimator::kMostColumns;

Columns columns_of(const std::vector<Profile>& history) {
  std::vector<const Profile*> rows;
  for (const Profile& row : history) rows.push_back(&row);
  return Columns(rows);
}

Features text(const std::string& value) { return {{"arg.0", value}}; }

// Is the text a column?
bool knows(const Columns& columns, const std::string& value) {
  const std::vector<float> row = columns.row("", text(value));
  return std::find(row.begin(), row.end(), 1.0F) != row.end();
}

}  // namespace

TEST_CASE("where there are few texts and numbers each one has a column, as it came") {
  const Columns columns = columns_of(
      {{"f", "a", 2, {{"n", 0.0}, {"arg.0", "x"}}, {}}, {"g", "b", 1, {{"n", 0.0}}, {}}});
  const float missing = columns.row("", {})[1];
  CHECK(columns.row("f", {{"n", 0.0}, {"arg.0", "x"}}) == std::vector<float>{1, 0, 1, 0});
  CHECK(columns.row("g", {}) == std::vector<float>{0, missing, 0, 1});
}

TEST_CASE("texts that one run alone has keep out nothing that came later") {
  std::vector<Profile> history;
  for (std::size_t i = 0; i < 2 * kMost; ++i) {
    history.push_back({"f", "k", 1000.0 - static_cast<double>(i), text(std::to_string(i)), {}});
  }
  for (const double age : {2.0, 1.0}) {
    history.push_back({"f", "k", age, {{"arg.late", age}, {"arg.0", "late"}}, {}});
  }
  const Columns columns = columns_of(history);
  CHECK(columns.row("f", {{"arg.late", 1.0}}) != columns.row("f", {{"arg.late", 9.0}}));
  CHECK(knows(columns, "late"));
  CHECK_FALSE(knows(columns, "0"));
  CHECK(columns.row("f", {}).size() == 3);
}

TEST_CASE("of too many the texts that most runs have count, then the newest") {
  std::vector<Profile> history;
  const auto add = [&](const std::string& value, int runs, double age) {
    for (int i = 0; i < runs; ++i) history.push_back({"f", "k", age, text(value), {}});
  };
  add("often", 3, 1e6);
  for (std::size_t i = 0; i < 2 * kMost; ++i) {
    add(std::to_string(i), 2, 1000.0 - static_cast<double>(i));
  }
  const Columns columns = columns_of(history);
  CHECK(columns.row("f", {}).size() == kMost);
  CHECK(knows(columns, "often"));
  CHECK(knows(columns, std::to_string(2 * kMost - 1)));
  CHECK_FALSE(knows(columns, "0"));
}
