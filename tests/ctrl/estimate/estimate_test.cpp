// SPDX-License-Identifier: Apache-2.0
#include "ctrl/estimate/estimate.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "base/json.h"
#include "ctrl/codec/estimate_json.h"
#include "ctrl/estimate/explain.h"
#include "tests/support/catch.h"

namespace {

using namespace flowcon::ctrl::estimate;

Profile run(const std::string& key, double age, double mem, const std::string& family = "f") {
  return {family, key, age, {}, {{"mem", mem}}};
}

LabelEstimate only(const std::vector<Profile>& history, const EstimateJob& job) {
  EstimateState state;
  state.history = history;
  state.jobs = {job};
  const EstimateDecision decision = decide_estimate(state);
  REQUIRE(decision.jobs.size() == 1);
  REQUIRE(decision.jobs[0].labels.size() == 1);
  return decision.jobs[0].labels[0];
}

bool is(const LabelEstimate& estimate, EstimateBasis basis, double expected, double upper,
        std::size_t rows) {
  return estimate.basis == basis && estimate.rows == rows && estimate.expected == expected &&
         estimate.upper == upper;
}

// Time in proportion to steps, half with another model, with noise of a tenth.
std::vector<Profile> made_runs(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Profile> history;
  for (std::size_t i = 0; i < count; ++i) {
    const double steps = 10 + static_cast<double>(random() % 1000);
    const bool is_small = random() % 2 == 0;
    const double noise = 0.9 + 0.2 * static_cast<double>(random() % 1000) / 1000;
    history.push_back({"f",
                       "key" + std::to_string(i),
                       static_cast<double>(i),
                       {{"arg.steps", steps}, {"arg.model", is_small ? "small" : "large"}},
                       {{"seconds", steps * (is_small ? 0.5 : 1) * noise}}});
  }
  return history;
}

}  // namespace

TEST_CASE("runs of the same command that were alike are repeated") {
  const EstimateJob job{"j", "f", "a", {}};
  CHECK(is(only({run("a", 1, 100), run("a", 2, 105), run("a", 3, 110), run("b", 0, 9)}, job),
           EstimateBasis::repeat, 105, 110, 3));
  CHECK(is(only({run("a", 4, 100), run("a", 2, 105), run("a", 3, 110), run("a", 1, 101)}, job),
           EstimateBasis::repeat, 105, 110, 4));
}

TEST_CASE("only the last five runs of a command count, by age") {
  const EstimateJob job{"j", "f", "a", {}};
  CHECK(is(only({run("a", 9, 500), run("a", 1, 101), run("a", 2, 102), run("a", 3, 103),
                 run("a", 4, 104), run("a", 5, 105)},
                job),
           EstimateBasis::repeat, 103, 105, 5));
}

TEST_CASE("runs of a command that differ by more than a tenth are a family's") {
  const EstimateJob job{"j", "f", "a", {}};
  CHECK(is(only({run("a", 1, 100), run("a", 2, 105), run("a", 3, 110.1), run("b", 4, 120)}, job),
           EstimateBasis::family, 110.1, 120, 4));
}

TEST_CASE("too few runs, or only those of other families, estimate nothing") {
  for (const auto& history :
       {std::vector<Profile>{run("a", 1, 100), run("a", 2, 100)},
        std::vector<Profile>{run("b", 1, 1, "g"), run("b", 2, 1, "g"), run("b", 3, 1, "g")}}) {
    const LabelEstimate estimate = only(history, {"j", "f", "a", {}});
    CHECK(estimate.basis == EstimateBasis::none);
    CHECK(!estimate.expected);
    CHECK(!estimate.upper);
    CHECK(estimate.rows == 0);
  }
}

TEST_CASE("each label rests on the rows that have it") {
  EstimateState state;
  state.history = {run("a", 1, 100), run("a", 2, 100), run("a", 3, 100)};
  state.history[1].labels.emplace_back("cpu", 2.0);
  state.history[0].labels.clear();
  state.jobs = {{"j", "f", "a", {}}};
  const EstimateDecision decision = decide_estimate(state);
  REQUIRE(decision.jobs[0].labels.size() == 2);
  CHECK(decision.jobs[0].labels[0].label == "mem");
  CHECK(decision.jobs[0].labels[0].basis == EstimateBasis::none);
  CHECK(decision.jobs[0].labels[1].label == "cpu");
}

TEST_CASE("twenty runs plant a forest, which knows numbers and kinds") {
  CHECK(only(made_runs(19, 1), {"j", "g", "x", {}}).basis == EstimateBasis::none);
  const std::vector<Profile> history = made_runs(400, 1);
  Estimator estimator(history, 0.9, 1);
  std::size_t close = 0;
  std::size_t covered = 0;
  const std::vector<Profile> others = made_runs(200, 2);
  for (const Profile& other : others) {
    const LabelEstimate estimate = estimator.estimate({"j", "f", "x", other.features})[0];
    REQUIRE(estimate.basis == EstimateBasis::forest);
    REQUIRE(estimate.rows == 400);
    const double actual = other.labels[0].second;
    close += std::abs(std::log(*estimate.expected / actual)) < 0.2 ? 1 : 0;
    covered += actual <= *estimate.upper ? 1 : 0;
  }
  // The noise is a tenth at most: two thirds of that is the error of a tree's leaf.
  CHECK(close > 180);
  // Nine of ten are promised; 200 of them spread by 4.2, and 13 is three times that.
  CHECK(covered > 167);
  CHECK(covered < 200);
}

TEST_CASE("a greater quantile has a greater margin, and 1 takes the greatest error") {
  const std::vector<Profile> history = made_runs(100, 3);
  const EstimateJob job{"j", "f", "x", {{"arg.steps", 100.0}, {"arg.model", "small"}}};
  double before = 0;
  for (const double quantile : {0.0, 0.5, 0.9, 1.0}) {
    const LabelEstimate estimate = Estimator(history, quantile, 1).estimate(job)[0];
    CHECK(*estimate.upper >= *estimate.expected);
    CHECK(*estimate.upper >= before);
    before = *estimate.upper;
  }
}

TEST_CASE("the same state gives the same bytes, another seed another forest") {
  EstimateState state;
  state.history = made_runs(60, 4);
  state.jobs = {{"j", "f", "x", {{"arg.steps", 77.0}, {"arg.model", "large"}}}};
  const std::string once = flowcon::render_json(to_json(decide_estimate(state)));
  CHECK(flowcon::render_json(to_json(decide_estimate(state))) == once);
  state.seed = 2;
  CHECK(flowcon::render_json(to_json(decide_estimate(state))) != once);
}

TEST_CASE("features of any kind and size give a finite estimate") {
  std::vector<Profile> history = made_runs(40, 5);
  for (std::size_t i = 0; i < history.size(); ++i) {
    history[i].features.emplace_back("huge", i % 2 == 0 ? 1e308 : -1e308);
    history[i].features.emplace_back("n" + std::to_string(i), 1.0);
    if (i % 3 == 0) history[i].features[0].second = "text";
  }
  history[0].labels[0].second = 1e308;
  history[1].labels[0].second = 5e-324;
  const LabelEstimate estimate =
      Estimator(history, 0.5, 1).estimate({"j", "new", "x", {{"huge", "word"}, {"else", 0.0}}})[0];
  CHECK(std::isfinite(*estimate.expected));
  CHECK(*estimate.expected > 0);
}

TEST_CASE("an estimate says what it rests on") {
  EstimateState state;
  state.history = {run("a", 1, 100), run("a", 2, 105), run("a", 3, 110)};
  state.jobs = {{"j", "f", "a", {}}, {"k", "f", "b", {}}, {"l", "g", "c", {}}};
  const EstimateDecision decision = decide_estimate(state);
  const auto said = [&](const std::string& id) {
    flowcon::ctrl::policy::About about;
    about.id = id;
    const auto text = explain(state, decision, about);
    return text ? *text : text.error().message();
  };
  CHECK(said("j") == "mem 105, at most 110 (last 3 runs of the same command)");
  CHECK(said("k") == "mem 105, at most 110 (3 runs of a like command)");
  CHECK(said("l") == "mem unknown (too few runs)");
  CHECK(said("m").find("not in this decision") != std::string::npos);
  state.history = made_runs(30, 6);
  flowcon::ctrl::policy::About about;
  about.id = "j";
  CHECK(explain(state, decide_estimate(state), about)->find("(random forest of 30 runs)") !=
        std::string::npos);
}
