// SPDX-License-Identifier: Apache-2.0
// The table of jobs, the summaries and the published rows, on made-up jobs.
#include "sim/elastic/rows.h"

#include <algorithm>

#include "base/json.h"
#include "sim/elastic/modes.h"
#include "sim/elastic/summary.h"
#include "tests/support/catch.h"

using namespace flowcon::sim;
using namespace flowcon::sim::elastic;

namespace {

// 80 jobs at once, one of 20 minutes after nine of three, and two more that are not of the
// 447.
std::string table() {
  std::string text = "job_id,submit_s,duration_s,gpus_or_nodes,in447\n";
  for (int i = 0; i < 80; ++i) {
    text += std::to_string(i) + ",7," + (i % 10 == 9 ? "1200" : "180") + ",4,1\n";
  }
  return text + "x,8,60,1,0\ny,9,60,1,\n";
}

TraceJobs jobs_of(const std::string& text) {
  const auto jobs = parse_jobs(text, "jobs.csv");
  REQUIRE(jobs.has_value());
  return *jobs;
}

}  // namespace

TEST_CASE("elastic: a job's work is its duration, whatever it ran on; the first arrives at 0") {
  const TraceJobs jobs =
      jobs_of("id,arrival,duration,nodes,status\nb,1900,1800,2,killed\na,100,7200,64,failed\n");
  REQUIRE(jobs.all.size() == 2);
  CHECK(jobs.all[0].arrival == 0);
  CHECK(jobs.all[0].work == 2);
  CHECK(jobs.all[1].arrival == 0.5);
  CHECK(jobs.all[1].work == 0.5);
  CHECK(jobs.of_447.empty());
}

TEST_CASE("elastic: the jobs of the smaller set are those whose column says so") {
  const TraceJobs jobs = jobs_of(table());
  CHECK(jobs.all.size() == 82);
  CHECK(jobs.of_447.size() == 80);
}

TEST_CASE("elastic: too many jobs, too much work and wrong rows are errors") {
  const auto problem = [](const std::string& text) {
    const auto jobs = parse_jobs(text, "jobs.csv");
    return jobs ? std::string() : jobs.error().message();
  };
  CHECK(problem("arrival\n1\n").find("duration_s") != std::string::npos);
  CHECK(problem("arrival,duration\n0,x\n").find("jobs.csv line 2") != std::string::npos);
  CHECK(problem("arrival,duration\n0,3.7e9\n") == "jobs.csv has more than 1000000 hours of work");
  std::string many = "arrival,duration\n";
  for (int i = 0; i < 10'001; ++i) many += "0,1\n";
  CHECK(problem(many) == "jobs.csv has more than 10000 jobs");
}

TEST_CASE("elastic: a comparison has each allocator beside greedy, seed by seed") {
  Comparison comparison;
  comparison.jobs = jobs_of(table()).all;
  comparison.nodes = {20, 40};
  comparison.allocators = {Allocator::horizon, Allocator::greedy};
  comparison.setting = with_mode({}, *find_mode("noise"));
  comparison.seeds = 2;
  const std::vector<Summary> summaries = compare(comparison);
  REQUIRE(summaries.size() == 4);
  CHECK(summaries[0].nodes == 20);
  CHECK(summaries[0].allocator == Allocator::horizon);
  CHECK(summaries[3].nodes == 40);
  CHECK(summaries[3].additional_jobs.mean == 0);
  CHECK(summaries[3].queueing_percent.mean == 0);
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    Setting setting = comparison.setting;
    setting.nodes = 20;
    setting.seed = seed;
    const Run greedy = run(comparison.jobs, setting);
    setting.allocator = Allocator::horizon;
    sum += additional_jobs(greedy, run(comparison.jobs, setting));
  }
  CHECK(summaries[0].additional_jobs.mean == Approx(sum / 2).epsilon(1e-12));
}

TEST_CASE("elastic: JSON, CSV and table have the same figures") {
  Summary summary;
  summary.nodes = 70;
  summary.allocator = Allocator::horizon;
  summary.completion = {215.816, {}};
  summary.additional_jobs = {17.004, 0.25};
  const auto json = flowcon::parse_json(render({summary}, Format::json));
  REQUIRE(json);
  const auto& object = json->as_array()[0].as_object();
  CHECK(object.at("policy").as_string() == "horizon");
  CHECK(object.at("nodes").as_int64() == 70);
  CHECK(object.at("mean_completion_minutes").to_number<double>() == 215.82);
  CHECK(object.at("mean_completion_minutes_se").is_null());
  CHECK(object.at("additional_jobs_se").to_number<double>() == 0.25);
  const std::string csv = render({summary}, Format::csv);
  CHECK(csv.find("\n70,horizon,215.82,,0,,0,,17,0.25,0,\n") != std::string::npos);
  CHECK(render({summary}, Format::table).find("17.0 +-0.3") != std::string::npos);
}

TEST_CASE("elastic: each published figure has a row, which is met where ours is good enough") {
  const std::vector<PublishedRow> rows = elastic_rows(jobs_of(table()));
  const auto count = [&](const std::string& what) {
    return std::count_if(rows.begin(), rows.end(), [&](const PublishedRow& row) {
      return row.experiment.find(what) != std::string::npos;
    });
  };
  CHECK(count("elastic, 80 jobs") == 47);
  CHECK(count("elastic, 82 jobs") == 7);
  CHECK(count("queueing time") == 7);
  CHECK(count("15 s to scale up") == 7);
  CHECK(count("parked") == 6);
  for (const PublishedRow& row : rows) {
    INFO(row.experiment << ": " << row.ours);
    if (row.goal == "-") CHECK(row.is_met);
    if (row.goal == "<= -32 %") CHECK(row.is_met == (std::stod(row.ours) <= -32));
    if (row.goal == ">= 17.4") CHECK(row.is_met == (std::stod(row.ours) >= 17.4));
    if (row.goal.starts_with("> ")) {
      CHECK(row.is_met == (std::stod(row.ours) > std::stod(row.goal.substr(2))));
    }
  }
}

TEST_CASE("elastic: without a smaller set there are no rows of all jobs") {
  const std::vector<PublishedRow> rows = elastic_rows(jobs_of("arrival,duration\n0,600\n"));
  CHECK(rows.size() == 47);
  // One job alone never queues, and its time is that of greedy: the goals are missed.
  CHECK_FALSE(rows[0].is_met);
  CHECK(rows[0].ours == "0.0 %");
  CHECK_FALSE(rows[9].is_met);
  CHECK(rows[9].experiment == "elastic, 1 jobs, 110 nodes: additional jobs per 100");
}
