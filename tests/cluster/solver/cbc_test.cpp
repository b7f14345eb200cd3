// SPDX-License-Identifier: Apache-2.0
// CBC as a child: with scripts in its place, and with the real one where it is installed.
#include "cluster/solver/cbc.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cluster/codec/horizon_lp.h"
#include "tests/cluster/policy/horizon_states.h"
#include "tests/support/catch.h"

using namespace flowcon::cluster;
using namespace flowcon::cluster::solver;
using flowcon::test::Dice;
namespace fs = std::filesystem;

namespace {

// A folder in front of the PATH, with a cbc of its own or without any; what it is called with is in
// its file "said".
class FakeCbc {
 public:
  explicit FakeCbc(const std::string& script) : path_(std::getenv("PATH")) {
    std::string folder = (fs::temp_directory_path() / "cbc-test-XXXXXX").string();
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    folder_ = folder;
    std::ofstream(folder_ / "cbc") << "#!/bin/sh\necho \"$@\" >" << folder << "/said\n"
                                   << "for last; do :; done\n"
                                   << script << '\n';
    ::chmod((folder_ / "cbc").c_str(), 0755);
    ::setenv("PATH", (folder + ":" + path_).c_str(), 1);
  }
  FakeCbc(const FakeCbc&) = delete;
  FakeCbc& operator=(const FakeCbc&) = delete;
  ~FakeCbc() {
    ::setenv("PATH", path_.c_str(), 1);
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  [[nodiscard]] std::string said() const {
    std::ifstream in(folder_ / "said");
    std::string line;
    std::getline(in, line);
    return line;
  }

 private:
  std::string path_;
  fs::path folder_;
};

// Two jobs on three nodes in one hour; b should have two of them, and has one.
policy::HorizonState two_jobs() {
  policy::HorizonState state;
  state.nodes = 3;
  state.steps = 1;
  state.minutes = 60;
  state.jobs = {{"a", 4, 1, 2, {}, {}}, {"b", 2, 1, 2, {}, {}}};
  return state;
}

policy::HorizonDecision worse() { return {0.9, 1.2, {{"a", {2}}, {"b", {1}}}, {}}; }

const std::string kBest =
    "printf 'Optimal - objective value 1.05\\n0 y_0_0_0 1 0\\n1 y_1_0_1 1 0\\n' >\"$last\"";

std::string problem_of(const flowcon::Result<policy::HorizonDecision>& decision) {
  return decision ? std::string() : decision.error().message();
}

}  // namespace

TEST_CASE("cbc: it gets the program and our plan, and its better plan is used") {
  const FakeCbc cbc(kBest + "\ngrep -q '^ y_1_0_1' \"$1\" || exit 1");
  const auto better = improve_by_cbc(two_jobs(), worse(), 7);
  INFO(problem_of(better));
  REQUIRE(better.has_value());
  CHECK(better->objective == Approx(1.05).epsilon(1e-12));
  CHECK(better->plan[1].nodes == std::vector<int>{2});
  const std::string said = cbc.said();
  CHECK(said.find("/plan.lp timeMode elapsed seconds 7 ") != std::string::npos);
  CHECK(said.find(" preprocess off mips ") != std::string::npos);
  CHECK(said.find(" solve solution ") != std::string::npos);
  // Its files are gone.
  CHECK_FALSE(fs::exists(said.substr(0, said.find("/plan.lp"))));
}

TEST_CASE("cbc: a decision that is within 0.1 % of its bound is as it is, without cbc") {
  const FakeCbc cbc(kBest);
  policy::HorizonDecision near = worse();
  near.bound = near.objective * 1.0009;
  const auto same = improve_by_cbc(two_jobs(), near, 7);
  REQUIRE(same.has_value());
  CHECK(same->objective == 0.9);
  CHECK(cbc.said().empty());
}

TEST_CASE("cbc: without a solution the sentence says why") {
  {
    const FakeCbc cbc("echo no licence >&2; exit 3");
    const std::string problem = problem_of(improve_by_cbc(two_jobs(), worse(), 7));
    CHECK(problem.find("no solution within 7 s (status 3): no licence") != std::string::npos);
  }
  {
    const FakeCbc cbc("printf 'Infeasible - objective value 0\\n' >\"$last\"");
    CHECK(problem_of(improve_by_cbc(two_jobs(), worse(), 7)).find("Infeasible") !=
          std::string::npos);
  }
  {
    const FakeCbc cbc("printf 'Optimal - objective value 1\\n0 y_7_0_0 1 0\\n' >\"$last\"");
    CHECK(problem_of(improve_by_cbc(two_jobs(), worse(), 7)).find("y_7_0_0") != std::string::npos);
  }
  {
    const FakeCbc cbc("truncate -s 65M \"$last\"");
    CHECK(problem_of(improve_by_cbc(two_jobs(), worse(), 7)).find("no solution") !=
          std::string::npos);
  }
  {
    // As where it is not installed.
    const FakeCbc cbc("exit 127");
    CHECK(problem_of(improve_by_cbc(two_jobs(), worse(), 7)) ==
          "cbc is not installed: apt-get install coinor-cbc");
  }
  policy::HorizonState state;
  state.nodes = 30'000;
  state.steps = 3;
  for (int i = 0; i < 20'000; ++i) state.jobs.push_back({std::to_string(i), 1, 1, 1, {}, {}});
  policy::HorizonDecision large;
  large.objective = 1;
  large.bound = 2;
  large.plan.resize(state.jobs.size());
  CHECK(problem_of(improve_by_cbc(state, large, 7)).find("too many jobs and steps") !=
        std::string::npos);
}

TEST_CASE("cbc: the real one finds the optimum from a poor start") {
  if (std::system("command -v cbc >/dev/null") != 0) {
    std::printf("skipped: cbc as a child: it is not installed (scripts/setup test)\n");
    return;
  }
  Dice dice(23);
  for (int i = 0; i < 5; ++i) {
    const policy::HorizonState state = flowcon::test::random_state(dice, true);
    policy::HorizonDecision decision = policy::decide_horizon(state);
    const double optimum = flowcon::test::optimum_of(state, decision.plan.size());
    for (policy::HorizonPlan& plan : decision.plan) {
      const auto at = static_cast<std::size_t>(&plan - decision.plan.data());
      const int least = policy::legal_numbers(state, state.jobs[at]).front();
      plan.nodes.assign(plan.nodes.size(), least);
    }
    decision.objective = 0;
    decision.bound = 1e9;
    INFO(policy::horizon_lp(state));
    const auto best = improve_by_cbc(state, decision, 20);
    INFO(problem_of(best));
    REQUIRE(best.has_value());
    CHECK(best->objective == Approx(optimum).epsilon(1e-6));
  }
}
