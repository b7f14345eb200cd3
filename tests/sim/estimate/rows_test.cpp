// SPDX-License-Identifier: Apache-2.0
// Tables of measured runs, how well they are estimated, and the rows of it, on made-up runs.
#include "sim/estimate/rows.h"

#include <string>

#include "sim/estimate/score.h"
#include "tests/support/catch.h"

using namespace flowcon::sim;
using namespace flowcon::sim::estimate;

namespace {

// Seconds by the steps alone, twice as many of model b.
std::string jobs(int count) {
  std::string text = "job_id,submit_s,duration_s,gpus_or_nodes,model,steps,batch\n";
  for (int i = 0; i < count; ++i) {
    const bool is_b = i % 3 == 0;
    const int steps = 100 + i * 37 % 1000;
    text += std::to_string(i) + ",0," + std::to_string(steps * (is_b ? 2 : 1)) + ",1," +
            (is_b ? "b" : "a") + "," + std::to_string(steps) + ",32\n";
  }
  return text;
}

std::vector<Runs> tables_of(const std::string& text) {
  auto tables = parse_tables(text, "runs.csv");
  REQUIRE(tables.has_value());
  return *tables;
}

}  // namespace

TEST_CASE("estimate: a table is told by its columns and gives a run for each label above 0") {
  const std::string header =
      "MODEL,hardware,num_nodes,num_workers,local_batch,global_batch,step_time_s,sync_time_s\n";
  const auto tables = tables_of(header + "x,aws,1,2,8,16,0.5,0\ny,aws,1,,8,16,0.25,0.1\n");
  REQUIRE(tables.size() == 2);
  CHECK(tables[0].what == "scaling-pollux, step time");
  REQUIRE(tables[0].rows.size() == 2);
  CHECK(tables[0].rows[0].family == "x");
  CHECK(tables[0].rows[0].features.size() == 5);
  CHECK(tables[0].rows[1].features.size() == 4);  // one is empty
  CHECK(tables[0].rows[1].age < tables[0].rows[0].age);
  CHECK(tables[0].rows[0].key != tables[0].rows[1].key);
  REQUIRE(tables[1].rows.size() == 1);
  CHECK(tables[1].rows[0].labels.front().second == 0.1);
  CHECK(is_table(header));
  CHECK_FALSE(is_table("model,step_time_s\nx,1\n"));
  CHECK_FALSE(is_table(""));
  const auto wrong = parse_tables(header + "x,aws,1,two,8,16,0.5,0\n", "runs.csv");
  REQUIRE_FALSE(wrong.has_value());
  CHECK(wrong.error().message().find("runs.csv line 2") != std::string::npos);
}

TEST_CASE(
    "estimate: what is held out is estimated by the forest better than by the simpler means") {
  const auto tables = tables_of(jobs(300));
  REQUIRE(tables.size() == 1);
  const Scores scores = score(tables[0].rows, 200, 1);
  CHECK(scores.forest.r2 > 0.9);
  CHECK(scores.forest.r2 > scores.median.r2);
  CHECK(scores.median.r2 > scores.last.r2);
  CHECK(scores.forest.error < scores.median.error);
  CHECK(scores.upper_ratio >= 1);
  CHECK(scores.forest.r2 == score(tables[0].rows, 200, 1).forest.r2);
  CHECK(scores.forest.r2 != score(tables[0].rows, 200, 2).forest.r2);
  const Scores mean = mean_of({scores, Scores{}});
  CHECK(mean.forest.r2 == Approx(scores.forest.r2 / 2));
  CHECK(mean.upper_ratio == Approx(scores.upper_ratio / 2));
}

TEST_CASE("estimate: rows have goals from the reference, a curve where there is one, 250 runs") {
  std::vector<Runs> tables = tables_of(jobs(250));
  tables[0].reference = {0.5, 1, 9};
  tables[0].curve = {0.1, 2, 0.1, 0.1, 0.1};
  const auto rows = estimate_rows(tables, "runs.csv", 1);
  REQUIRE(rows.has_value());
  REQUIRE(rows->size() == 8 + 4);  // there are no 400 runs beside those held out
  CHECK((*rows)[0].experiment == "estimate, gavel-philly, seconds: R2 of the forest");
  CHECK((*rows)[0].goal == ">= 0.47");
  CHECK((*rows)[0].is_met);
  CHECK((*rows)[8].experiment == "estimate, gavel-philly, seconds: R2 with 25 runs");
  CHECK_FALSE((*rows)[9].is_met);
  CHECK((*rows)[9].goal == ">= 1.97");
  const auto few = estimate_rows(tables_of(jobs(249)), "runs.csv", 1);
  REQUIRE_FALSE(few.has_value());
  CHECK(few.error().message().find("runs.csv has 249 runs") == 0);
}
