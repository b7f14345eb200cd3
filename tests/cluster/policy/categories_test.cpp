// SPDX-License-Identifier: Apache-2.0
// What is remembered of containers between the rounds of Algorithm 3.
#include "cluster/policy/categories.h"

#include <limits>

#include "base/json.h"
#include "cluster/codec/report_json.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::policy {
namespace {

std::string text(const Counts& counts) {
  return std::to_string(counts.pc) + "/" + std::to_string(counts.wc) + "/" +
         std::to_string(counts.cc);
}

// Rounds of one container, ten seconds apart, from `now` on; returns when the next one is.
double rounds(Categories& categories, const std::vector<double>& values, double now) {
  for (const double value : values) {
    (void)categories.take_round({{"a", value}}, 0.01, now, 10);
    now += 10;
  }
  return now;
}

TEST_CASE("a container that slows down goes from PC over WC to CC, one step a round") {
  Categories categories;
  std::vector<std::string> seen;
  double now = 100;
  for (const double value : {1.0, 0.5, 0.495, 0.494, 0.494}) {
    now = rounds(categories, {value}, now);
    seen.push_back(text(categories.count({"a"})));
  }
  CHECK(seen == std::vector<std::string>{"1/0/0", "1/0/0", "0/1/0", "0/0/1", "0/0/1"});
  CHECK(categories.find("a")->converged == 130);
  rounds(categories, {0.3}, now);
  CHECK(text(categories.count({"a"})) == "1/0/0");
  CHECK_FALSE(categories.find("a")->converged);
}

TEST_CASE("a container without a value stays, and a new one counts as progressing") {
  Categories categories;
  (void)categories.take_round({{"a", std::nullopt}}, 0.01, 0, 10);
  (void)categories.take_round({{"a", std::nullopt}}, 0.01, 10, 10);
  CHECK(text(categories.count({"a", "new"})) == "2/0/0");
}

TEST_CASE("a container that was away keeps its category and compares no value from before") {
  Categories categories;
  const double now = rounds(categories, {1.0, 0.5, 0.495}, 0);
  CHECK(text(categories.count({"a"})) == "0/1/0");
  (void)categories.take_round({}, 0.01, now, 10);
  const CategoryRound back = categories.take_round({{"a", 0.1}}, 0.01, now + 10, 10);
  CHECK_FALSE(back.state.containers.front().previous_value);
  CHECK(text(categories.count({"a"})) == "0/1/0");
}

TEST_CASE("one that was migrated keeps its category, whatever its value does") {
  Categories categories;
  const double now = rounds(categories, {1.0, 0.5, 0.495, 0.494}, 0);
  categories.mark_migrated("a", now);
  rounds(categories, {0.2, 0.1}, now);
  CHECK(text(categories.count({"a"})) == "0/0/1");
  CHECK(categories.find("a")->migrated == now);
}

TEST_CASE("a round is news where a category changes or somebody wants to move") {
  Categories categories;
  std::vector<bool> news;
  double now = 0;
  for (const double value : {1.0, 0.5, 0.495, 0.494, 0.494, 0.494}) {
    const CategoryRound round =
        categories.take_round({{"a", value}, {"b", -now}, {"c", -2 * now}}, 0.01, now, 10);
    news.push_back(round.is_news);
    now += 10;
  }
  CHECK(news == std::vector<bool>{false, false, true, true, true, false});
}

TEST_CASE("what is gone for a day is forgotten") {
  Categories categories;
  rounds(categories, {1.0}, 0);
  CHECK(categories.forget_old(Categories::kKept).empty());
  CHECK(categories.forget_old(Categories::kKept + 1) == std::vector<std::string>{"a"});
  CHECK(categories.find("a") == nullptr);
}

TEST_CASE("category state travels as ages, so that no clock is compared") {
  CategoryState state;
  state.category = Category::cc;
  state.value = 0.25;
  state.growth = 0.001;
  state.seen = 995;
  state.converged = 900;
  state.rebalanced = true;
  state.moves = 2;
  const boost::json::object sent = to_json(state, 1000);
  CHECK(render_json(sent) ==
        R"({"category":"CC","value":0.25,"growth":0.001,"seen_age":5,"converged_age":100,)"
        R"("migrated_age":null,"rebalanced":true,"moves":2})");
  const Result<CategoryState> there = category_state_from(sent, 77000);
  REQUIRE(there.has_value());
  CHECK(there->category == Category::cc);
  CHECK(there->seen == 76995);
  CHECK(there->converged == 76900);
  CHECK_FALSE(there->migrated);
  CHECK(there->rebalanced);
  CHECK(there->moves == 2);
}

TEST_CASE("category state that makes no sense is refused, with the member's name") {
  const std::string good =
      R"({"category":"CC","value":0.25,"growth":0.001,"seen_age":5,"converged_age":100,)"
      R"("migrated_age":null,"rebalanced":true,"moves":2})";
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    const Result<CategoryState> read = category_state_from(parse_json(text)->get_object(), 0);
    return read ? std::string() : read.error().message();
  };
  CHECK(with("\"CC\"", "\"XX\"").find("category") != std::string::npos);
  CHECK(with(":100", ":-1").find("converged_age") != std::string::npos);
  CHECK(with(":100", ":1e300").find("converged_age") != std::string::npos);
  CHECK(with(":5", ":\"5\"").find("seen_age") != std::string::npos);
  CHECK(with("true", "1").find("rebalanced") != std::string::npos);
  CHECK(with("\"rebalanced\"", "\"other\"").find("rebalanced") != std::string::npos);
  CHECK(with(":2}", ":-1}").find("moves") != std::string::npos);
  CHECK(with(":2}", ":1000001}").find("moves") != std::string::npos);
  CHECK(with(":2}", ":1.5}").find("moves") != std::string::npos);
}

}  // namespace
}  // namespace flowcon::cluster::policy
