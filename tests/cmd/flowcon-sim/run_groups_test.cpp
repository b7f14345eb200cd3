// SPDX-License-Identifier: Apache-2.0
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "cmd/flowcon-sim/published.h"
#include "cmd/flowcon-sim/simulate.h"
#include "tests/support/catch.h"

using namespace flowcon::sim;

namespace {

World no_files() {
  World world;
  world.read = [](const std::string& path) -> flowcon::Result<std::string> {
    return flowcon::errno_error(ENOENT, "reading " + path);
  };
  return world;
}

Answer ask(const std::vector<std::string>& arguments) { return simulate(arguments, no_files()); }

bool is_refused(const std::vector<std::string>& arguments, const std::string& because) {
  const Answer answer = ask(arguments);
  INFO(answer.problem);
  return answer.status == 125 && answer.out.empty() &&
         answer.problem.find(because) != std::string::npos;
}

}  // namespace

TEST_CASE("a run of groups prints one object a model and policy, against the first policy") {
  const Answer answer = ask({"run", "kod2", "--policy", "kod2,queue", "--model", "vgg-16",
                             "--seeds", "2", "--format", "json"});
  REQUIRE(answer.status == 0);
  const auto json = flowcon::parse_json(answer.out);
  REQUIRE(json);
  REQUIRE(json->as_array().size() == 2);
  std::set<std::string> wanted{"model", "policy", "mean_completion_seconds", "makespan_seconds"};
  for (const char* name :
       {"mean_completion_percent", "makespan_percent", "cpu_use", "stuck", "resizes"}) {
    wanted.insert(name);
    wanted.insert(std::string(name) + "_se");
  }
  for (const auto& policy : json->as_array()) {
    std::set<std::string> found;
    for (const auto& member : policy.as_object()) found.insert(std::string(member.key()));
    CHECK(found == wanted);
  }
  CHECK(json->as_array()[0].as_object().at("mean_completion_percent") == 0);
  CHECK(json->as_array()[1].as_object().at("policy") == "queue");
  CHECK(json->as_array()[1].as_object().at("model") == "vgg-16");
}

TEST_CASE("without a model all of them run, and the same arguments give the same bytes") {
  const std::vector<std::string> arguments{"run", "kod2", "--policy", "fifo", "--format", "csv"};
  const Answer answer = ask(arguments);
  CHECK(answer.out == ask(arguments).out);
  for (const char* model : {"vgg-16", "cnn-rand", "resnet-50", "resnext-110"}) {
    CHECK(answer.out.find(std::string(model) + ",fifo,0,") != std::string::npos);
  }
  CHECK(ask({"run", "kod2", "--policy", "fifo", "--format", "csv", "--seed", "2"}).out !=
        answer.out);
}

TEST_CASE("the options of kod2 change what it prints") {
  const auto with = [](const char* option, const char* value) {
    return ask({"run", "kod2", "--policy", "queue", "--model", "resnet-50", option, value}).out;
  };
  const std::string plain = with("--seeds", "1");
  CHECK(with("--counters", "none") != plain);
  CHECK(with("--pause", "20") != plain);
  CHECK(with("--starve-limit", "1") != plain);
  CHECK(with("--counters", "all") == plain);
}

TEST_CASE("what makes no sense for groups, or for other schedules, is refused with a sentence") {
  CHECK(is_refused({"run", "kod2", "--hosts", "3"}, "--hosts makes no sense with kod2"));
  CHECK(is_refused({"run", "liquid-5", "--no-memory"}, "--no-memory makes no sense"));
  CHECK(is_refused({"run", "liquid-5", "--pause", "3"}, "--pause makes no sense with liquid-5"));
  CHECK(is_refused({"run", "random5", "--model", "vgg-16"}, "has no groups of tasks"));
  CHECK(is_refused({"bound", "kod2"}, "only 'flowcon-sim run' takes it"));
  CHECK(is_refused({"jobs", "liquid-5"}, "only 'flowcon-sim run' takes it"));
  CHECK(is_refused({"run", "kod2", "--policy", "even"}, "kod2 has no policy \"even\""));
  CHECK(is_refused({"run", "kod2", "--policy", ""}, "kod2 has no policy \"\""));
  CHECK(is_refused({"run", "kod2", "--policy", "quue"}, "did you mean queue?"));
  CHECK(is_refused({"run", "kod2", "--model", "vgg"}, "known: vgg-16, cnn-rand"));
  CHECK(is_refused({"run", "kod2", "--counters", "2"}, "--counters"));
  CHECK(is_refused({"run", "kod2", "--pause", "-1"}, "--pause"));
  CHECK(is_refused({"run", "liquid-6"}, "did you mean liquid-5?"));
}

TEST_CASE("published prints the rows of the experiments that are asked for") {
  const auto published = [](std::vector<std::string> words) {
    words.insert(words.begin(), "published");
    return print_published(words, no_files());
  };
  const Answer answer = published({"--experiment", "kod2", "--seeds", "1", "--format", "json"});
  REQUIRE(answer.status == 0);
  const auto json = flowcon::parse_json(answer.out);
  REQUIRE(json);
  REQUIRE(json->as_array().size() == 10);
  for (const auto& row : json->as_array()) {
    CHECK(row.as_object().size() == 5);
    CHECK(row.as_object().at("is_met").is_bool());
  }
  CHECK(published({"--help"}).out.find("--trace FILE") != std::string::npos);
  CHECK(published({"--trace", "x.csv"}).status == 1);  // no such file
  CHECK(published({"--experiment", "elastic"}).status == 125);
  for (const auto& wrong :
       std::vector<std::vector<std::string>>{{"--experiment", "x"},
                                             {"--seeds", "0"},
                                             {"--format", "xml"},
                                             {"kod2"},
                                             {"--experiment", "kod2", "--trace", "x.csv"}}) {
    CHECK(published(wrong).status == 125);
    CHECK_FALSE(published(wrong).problem.empty());
  }
}

TEST_CASE("published has the figures that need containers, with their goals and no answer") {
  const Answer answer =
      print_published({"published", "--experiment", "containers", "--format", "json"}, no_files());
  REQUIRE(answer.status == 0);
  const auto json = flowcon::parse_json(answer.out);
  REQUIRE(json);
  REQUIRE(json->as_array().size() == 4);
  for (const auto& row : json->as_array()) {
    CHECK(row.as_object().at("is_met").is_null());
    CHECK(row.as_object().at("ours").as_string() == "-");
  }
}

TEST_CASE("published names a table that no experiment reads, and experiments without one") {
  World world = no_files();
  world.read = [](const std::string& path) -> flowcon::Result<std::string> {
    if (path == "runs.csv") return std::string("model,duration_s,gpus_or_nodes,steps,batch\n");
    return std::string("a,b\n1,2\n");
  };
  const auto problem = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all{"published"};
    all.insert(all.end(), words.begin(), words.end());
    const Answer answer = print_published(all, world);
    CHECK(answer.status == 1);
    return answer.problem;
  };
  CHECK(problem({"--trace", "other.csv"}).find("other.csv: no experiment reads") == 0);
  CHECK(problem({"--experiment", "elastic,estimate", "--trace", "runs.csv"}) ==
        "elastic: no --trace is a table that it reads");
  CHECK(problem({"--experiment", "estimate", "--trace", "runs.csv"}).find("runs.csv has 0 runs") ==
        0);
}
