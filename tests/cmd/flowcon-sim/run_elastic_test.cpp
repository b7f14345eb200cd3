// SPDX-License-Identifier: Apache-2.0
#include "cmd/flowcon-sim/run_elastic.h"

#include "base/json.h"
#include "tests/support/catch.h"

using namespace flowcon::sim;

namespace {

constexpr const char* kTable = "id,submit_s,duration_s\na,0,7200\nb,36,1440\n";

Answer ask(std::vector<std::string> options, const std::string& table = kTable) {
  std::vector<std::string> arguments{"run", "elastic-447"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  World world;
  world.read = [&](const std::string& path) -> flowcon::Result<std::string> {
    if (path != "jobs.csv") return flowcon::errno_error(ENOENT, "reading " + path);
    return table;
  };
  return simulate(arguments, world);
}

Answer with_trace(std::vector<std::string> options, const std::string& table = kTable) {
  options.insert(options.end(), {"--trace", "jobs.csv"});
  return ask(options, table);
}

}  // namespace

TEST_CASE("elastic-447 prints a row for each number of nodes and policy") {
  // On four nodes b starts at 5 min on two of them and ends at 20; then a, which has had 0.6133
  // node hours, ends at 52.5. On eight b ends at 14.375 and a, which has had 0.768 at 15,
  // at 33.047.
  const Answer answer = with_trace({"--nodes", "4,8", "--policy", "greedy", "--format", "csv"});
  CHECK(answer.problem.empty());
  REQUIRE(answer.status == 0);
  CHECK(answer.out ==
        "nodes,policy,mean_completion_minutes,mean_completion_minutes_se,mean_queueing_minutes,"
        "mean_queueing_minutes_se,queueing_percent,queueing_percent_se,additional_jobs,"
        "additional_jobs_se,completed,completed_se\n"
        "4,greedy,35.95,,2.2,,0,,0,,2,\n"
        "8,greedy,23.41,,2.2,,0,,0,,2,\n");
}

TEST_CASE("elastic-447 has both policies without being asked, and other seeds where it draws") {
  const Answer exact = with_trace({"--nodes", "4", "--format", "json"});
  REQUIRE(exact.status == 0);
  const auto json = flowcon::parse_json(exact.out);
  REQUIRE(json);
  REQUIRE(json->as_array().size() == 2);
  CHECK(json->as_array()[0].at("policy").as_string() == "greedy");
  CHECK(json->as_array()[1].at("policy").as_string() == "horizon");
  CHECK(json->as_array()[1].at("mean_queueing_minutes").to_number<double>() == 2.2);
  CHECK(with_trace({"--nodes", "4", "--format", "json", "--seed", "9"}).out == exact.out);
  const std::vector<std::string> drawn{"--nodes", "4", "--mode", "factor4", "--seed"};
  const auto with_seed = [&](const char* seed) {
    std::vector<std::string> options = drawn;
    options.emplace_back(seed);
    return with_trace(options).out;
  };
  CHECK(with_seed("3") == with_seed("3"));
  CHECK(with_trace({"--nodes", "4", "--seeds", "3", "--mode", "factor4"}).out.find("+-") !=
        std::string::npos);
}

TEST_CASE("elastic-447 in each mode, and with what the product adds") {
  for (const char* mode : {"exact", "noise", "factor2", "factor4", "age", "harsh", "delay"}) {
    INFO(mode);
    CHECK(with_trace({"--mode", mode, "--nodes", "3"}).status == 0);
  }
  CHECK(with_trace({"--allow-zero", "--at-events", "--nodes", "3"}).status == 0);
}

TEST_CASE("elastic-447 says what is wrong, and where help is") {
  const auto is_wrong = [](const Answer& answer, const char* what) {
    return answer.status == 125 && answer.out.empty() &&
           answer.problem.find(what) != std::string::npos &&
           answer.problem.find("run --help") != std::string::npos;
  };
  CHECK(is_wrong(ask({}), "needs the jobs: --trace FILE"));
  CHECK(is_wrong(with_trace({"--nodes", "0"}), "--nodes"));
  CHECK(is_wrong(with_trace({"--nodes", "4,x"}), "--nodes"));
  CHECK(is_wrong(with_trace({"--policy", "milestone"}), "--policy"));
  CHECK(is_wrong(with_trace({"--mode", "noisy"}), "--mode"));
  CHECK(is_wrong(with_trace({"--format", "xml"}), "--format"));
  CHECK(is_wrong(with_trace({"--seeds", "0"}), "--seeds"));
  CHECK(is_wrong(with_trace({"--hosts", "3"}), "--hosts is no option of elastic-447"));
  CHECK(is_wrong(with_trace({"random5"}), "random5"));
  CHECK(ask({"--trace", "none.csv"}).status == 1);
  CHECK(with_trace({}, "id\n1\n").status == 1);
  const Answer near = simulate({"run", "elastic-44"}, World{});
  CHECK(near.problem.find("did you mean elastic-447?") != std::string::npos);
}

TEST_CASE("the help of run has elastic-447 and its options, that of the others has not") {
  const std::string help = simulate({"run", "--help"}, World{}).out;
  for (const char* words : {"elastic-447  ", "--trace FILE", "--nodes LIST", "--mode MODE",
                            "--allow-zero", "--at-events", "greedy  ", "horizon  ", "factor2 "}) {
    INFO(words);
    CHECK(help.find(words) != std::string::npos);
  }
  CHECK(simulate({"run", "elastic-447", "--help"}, World{}).out == help);
  CHECK(simulate({"bound", "--help"}, World{}).out.find("elastic") == std::string::npos);
}
