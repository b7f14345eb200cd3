// SPDX-License-Identifier: Apache-2.0
#include "sim/groups/rows.h"

#include <string>

#include "base/json.h"
#include "sim/groups/summary.h"
#include "tests/support/catch.h"

using namespace flowcon::sim;

TEST_CASE("the rows of KOD2 are there and their goals are met, by and large with few seeds") {
  const auto rows = groups::kod2_rows(6);
  CHECK(rows.size() == 10);
  std::size_t missed = 0;
  for (const PublishedRow& row : rows) {
    CHECK_FALSE(row.experiment.empty());
    CHECK_FALSE(row.goal.empty());
    missed += row.is_met ? 0 : 1;
    // What holds for each seed, not only on average.
    if (row.experiment.find("never end") != std::string::npos) CHECK(row.is_met);
    if (row.experiment.find("on average") != std::string::npos) CHECK(row.is_met);
  }
  CHECK(missed <= 2);
}

TEST_CASE("literal best-fit is worse than seeded, and seeded better than random and even") {
  groups::GroupExperiment experiment;
  experiment.schedule = groups::find_group_schedule("liquid-10");
  for (const char* name : {"random", "even", "best-fit", "seeded"}) {
    experiment.policies.push_back(groups::find_group_policy(name));
  }
  experiment.seeds = 4;
  const auto summaries = groups::run_experiment(experiment);
  REQUIRE(summaries.size() == 4);
  CHECK(summaries[0].mean_completion_percent.mean == 0);
  CHECK(summaries[2].mean_completion_percent.mean > 0);
  CHECK(summaries[3].mean_completion_percent.mean < -22);
  CHECK(summaries[3].mean_completion < 0.75 * summaries[1].mean_completion);
}

TEST_CASE("half the counters are worth more than none, and all more than half") {
  groups::GroupExperiment experiment;
  experiment.schedule = groups::find_group_schedule("kod2");
  experiment.policies = {groups::find_group_policy("kod2"), groups::find_group_policy("queue")};
  experiment.options.model = "resnext-110";
  experiment.seeds = 8;
  const auto percent = [&](double counters) {
    experiment.options.counters = counters;
    return groups::run_experiment(experiment).back().mean_completion_percent.mean;
  };
  CHECK(percent(1) < percent(0.5));
  CHECK(percent(0.5) < percent(0));
  CHECK(percent(0) < 0);
}

TEST_CASE("growth with the nodes is at most a tenth of that of random, which must grow") {
  const auto row = groups::growth_row("w", 1000, 1010, 2000, 2100);
  CHECK(row.experiment == "w");
  CHECK(row.ours == "10 s of 100 s");
  CHECK(row.is_met);
  CHECK_FALSE(groups::growth_row("", 1000, 1011, 2000, 2100).is_met);
  CHECK(groups::growth_row("", 1000, 900, 2000, 2100).is_met);
  CHECK_FALSE(groups::growth_row("", 1000, 900, 2000, 2000).is_met);
}

TEST_CASE("published rows are printed as a table, with commas and as JSON") {
  const std::vector<PublishedRow> rows{{"one, two", "-", "-3 %", "<= -2 %", true},
                                       {"three", "1", "2", "3", false}};
  CHECK(render(rows, Format::table) ==
        "EXPERIMENT   PUBLISHED   OURS      GOAL   MET\n"
        "one, two             -   -3 %   <= -2 %   yes\n"
        "three                1      2         3    no\n");
  CHECK(render(rows, Format::csv) ==
        "experiment,published,ours,goal,is_met\n\"one, two\",-,-3 %,<= -2 %,true\n"
        "three,1,2,3,false\n");
  const auto json = flowcon::parse_json(render(rows, Format::json));
  REQUIRE(json);
  CHECK(json->as_array()[1].as_object().at("is_met") == false);
}
