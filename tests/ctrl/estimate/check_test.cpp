// SPDX-License-Identifier: Apache-2.0
#include "ctrl/estimate/check.h"

#include <cmath>

#include "tests/support/catch.h"

namespace {

using namespace flowcon::ctrl::estimate;

bool always() { return true; }

// Runs of one command: family and repeat alone, since no label has 20 rows of its own.
Profile run(double age, const std::string& key, const std::string& label, double value) {
  return {"f", key, age, {}, {{label, value}}};
}

// 20 runs of something else, in order of their ends.
std::vector<Profile> before() {
  std::vector<Profile> history;
  for (int i = 0; i < 20; ++i) history.push_back(run(1000 - i, "k", "x" + std::to_string(i), 1));
  return history;
}

}  // namespace

TEST_CASE("learning anew is worth it from a twentieth of new rows on, and at least one") {
  CHECK_FALSE(is_worth_training(0, 0));
  CHECK(is_worth_training(1, 1));
  CHECK(is_worth_training(1, 20));
  CHECK_FALSE(is_worth_training(1, 21));
  CHECK_FALSE(is_worth_training(99, 2000));
  CHECK(is_worth_training(100, 2000));
}

TEST_CASE("a history of 20 runs leaves nothing to compare") {
  const EstimateCheck check = check_estimates(before(), 0.9, 1, always);
  CHECK(check.runs == 0);
  CHECK(check.labels.empty());
}

TEST_CASE("r2 and the share above the upper value are of logarithms, by hand") {
  // Values 2, 4, 8 of one family before: median 4, greatest 8. The next two runs, before anything
  // is learnt anew, need e*4 and 4/e: expected 4 for both, errors 1 and -1, their mean is log 4 and
  // their spread the same, so r2 is 1 - 2/2 = 0. e*4 is above 8, the other is not.
  std::vector<Profile> history = before();
  history.erase(history.begin(), history.begin() + 3);
  history.insert(history.begin(),
                 {run(2003, "a", "mem", 2), run(2002, "b", "mem", 4), run(2001, "c", "mem", 8)});
  history.push_back(run(2, "d", "mem", 4 * std::exp(1.0)));
  history.push_back(run(1, "e", "mem", 4 / std::exp(1.0)));
  const EstimateCheck check = check_estimates(history, 0.9, 1, always);
  CHECK(check.runs == 2);
  REQUIRE(check.labels.size() == 1);
  CHECK(check.labels[0].label == "mem");
  CHECK(check.labels[0].runs == 2);
  REQUIRE(check.labels[0].r2);
  CHECK(std::abs(*check.labels[0].r2) < 1e-12);
  CHECK(check.labels[0].above == 0.5);
}

TEST_CASE("no run is estimated by itself or by what ended later") {
  // Three runs of a command in the end: the first two have nothing of their kind before them; the
  // third comes after a training by all before it, which are two and too few.
  std::vector<Profile> history = before();
  for (int i = 0; i < 3; ++i) history.push_back(run(3 - i, "new", "mem", 7));
  const EstimateCheck none = check_estimates(history, 0.9, 1, always);
  CHECK(none.runs == 3);
  CHECK(none.labels.empty());
  // With three more there are trainings at 20, 22 and 24 rows: the last one knows four of them, and
  // only what comes after it is a repeat. What never differs has no r2.
  for (int i = 0; i < 3; ++i) history.push_back(run(-i, "new", "mem", 7));
  const EstimateCheck some = check_estimates(history, 0.9, 1, always);
  CHECK(some.runs == 6);
  REQUIRE(some.labels.size() == 1);
  CHECK(some.labels[0].runs == 2);
  CHECK_FALSE(some.labels[0].r2);
  CHECK(some.labels[0].above == 0);
}

TEST_CASE("a forest that has learnt what runs depend on has an r2 near 1") {
  std::vector<Profile> history;
  for (int i = 0; i < 120; ++i) {
    const double steps = 10 + (i * 37) % 100;
    history.push_back({"f",
                       "k" + std::to_string(i),
                       500.0 - i,
                       {{"arg.steps", steps}},
                       {{"seconds", 2 * steps}}});
  }
  const EstimateCheck check = check_estimates(history, 0.9, 1, always);
  CHECK(check.runs == 100);
  REQUIRE(check.labels.size() == 1);
  CHECK(check.labels[0].runs == 100);
  REQUIRE(check.labels[0].r2);
  CHECK(*check.labels[0].r2 > 0.9);
  CHECK(*check.labels[0].r2 <= 1);
}

TEST_CASE("without more time only the newest runs are compared") {
  std::vector<Profile> history = before();
  for (int i = 0; i < 100; ++i) history.push_back(run(100 - i, "k", "mem", 5));
  const EstimateCheck all = check_estimates(history, 0.9, 1, always);
  const EstimateCheck newest = check_estimates(history, 0.9, 1, [] { return false; });
  CHECK(all.runs == 100);
  CHECK(newest.runs >= 1);
  CHECK(newest.runs <= 6);
}
