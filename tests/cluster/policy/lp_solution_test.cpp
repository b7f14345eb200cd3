// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec/lp_solution.h"

#include "cluster/codec/horizon_lp.h"
#include "cluster/policy/horizon_model.h"
#include "tests/cluster/policy/horizon_states.h"
#include "tests/support/catch.h"

using namespace flowcon::cluster::policy;
using flowcon::test::Dice;

namespace {

// Two jobs on three nodes, one step of an hour: a has 4 node hours left, b 2. One of them may have
// two nodes: b gains 1.6 / 2 - 1 / 2 = 0.3 by that, a half as much.
HorizonState two_jobs() {
  HorizonState state;
  state.nodes = 3;
  state.steps = 1;
  state.minutes = 60;
  state.jobs = {{"a", 4, 1, 2, {}, {}}, {"b", 2, 1, 2, {}, {}}};
  return state;
}

// With a having two nodes: 1.6 / 4 + 1 / 2.
HorizonDecision worse() { return {0.9, 1.2, {{"a", {2}}, {"b", {1}}}, {}}; }

std::string file(const std::string& rows) {
  return "Optimal - objective value 1.05000000\n" + rows;
}

std::string problem_of(const std::string& text) {
  const auto solution = read_lp_solution(text);
  if (!solution) return solution.error().message();
  const auto better = better_plan(two_jobs(), worse(), *solution);
  return better ? std::string() : better.error().message();
}

// The plan as CBC would write it.
LpSolution solution_of(const HorizonState& state, const HorizonDecision& decision) {
  std::string text = lp_start(state, decision);
  text.replace(0, text.find(" - "), "Optimal");
  const auto solution = read_lp_solution(text);
  REQUIRE(solution.has_value());
  return *solution;
}

// Everybody's least number in every step, with its objective and a bound that is none.
HorizonDecision least_plan(const HorizonState& state) {
  const horizon::Model model = horizon::make_model(state);
  horizon::Plan plan;
  plan.choices.assign(model.jobs.size() * static_cast<std::size_t>(model.steps), 0);
  HorizonDecision decision;
  decision.objective = horizon::value_of(model, plan);
  decision.bound = 1e9;
  for (std::size_t i = 0; i < model.jobs.size(); ++i) {
    decision.plan.push_back(
        {state.jobs[i].id,
         std::vector<int>(static_cast<std::size_t>(model.steps), model.jobs[i].numbers.front())});
  }
  return decision;
}

}  // namespace

TEST_CASE("a better plan of the solver replaces ours, with an objective of our own") {
  const auto solution =
      read_lp_solution(file("      0 s_0_0               0.25                       0\r\n"
                            "      2 y_0_0_0        0.9999999                    0.25\n"
                            "      3 y_0_0_1          1e-09                     0.4\n"
                            "      5 y_1_0_1                1                     0.8\n"));
  REQUIRE(solution.has_value());
  CHECK(solution->is_optimal);
  CHECK(solution->objective == 1.05);
  CHECK(solution->chosen == std::vector<std::string>{"y_0_0_0", "y_1_0_1"});
  const auto better = better_plan(two_jobs(), worse(), *solution);
  REQUIRE(better.has_value());
  CHECK(better->objective == Approx(1.05).epsilon(1e-12));
  CHECK(better->bound == 1.2);
  CHECK(better->plan[0].nodes == std::vector<int>{1});
  CHECK(better->plan[1].nodes == std::vector<int>{2});
}

TEST_CASE("a plan of the solver that is no better changes nothing") {
  const auto solution = read_lp_solution(file("0 y_0_0_0 1 0\n1 y_1_0_0 1 0\n"));
  REQUIRE(solution.has_value());
  const auto same = better_plan(two_jobs(), worse(), *solution);
  REQUIRE(same.has_value());
  CHECK(same->objective == 0.9);
  CHECK(same->plan[0].nodes == std::vector<int>{2});
}

TEST_CASE("a solution that was found before the time was up counts, one that was not does not") {
  const auto stopped = read_lp_solution("Stopped on time - objective value -0.9\n0 y_0_0_1 1 0\n");
  REQUIRE(stopped.has_value());
  CHECK_FALSE(stopped->is_optimal);
  CHECK(stopped->objective == 0.9);
  CHECK(problem_of("Infeasible - objective value 0\n") == "there is no solution: Infeasible");
  CHECK(problem_of("Stopped on time (no integer solution - continuous used) - objective value 1\n")
            .starts_with("there is no solution"));
}

TEST_CASE("what is no solution of this program is an error that says why") {
  const std::string a = "0 y_0_0_1 1 0\n";
  const std::string b = "1 y_1_0_0 1 0\n";
  CHECK(problem_of(file(a + b)).empty());
  CHECK(problem_of("").starts_with("the solution begins with"));
  CHECK(problem_of("Optimal - objective value nan\n").starts_with("the solution begins with"));
  CHECK(problem_of("\x1b[2J\n").find('\x1b') == std::string::npos);
  CHECK(problem_of(file("y_0_0_1 1\n")).starts_with("the solution has a line"));
  CHECK(problem_of(file("** 0 y_0_0_1 1 0\n")).starts_with("the solution has a line"));
  CHECK(problem_of(file("0 y_0_0_1\n")).starts_with("the solution has a line"));
  CHECK(problem_of(file(a)) == "the solution has a job and step without a number");
  CHECK(problem_of(file(a + b + "2 y_0_0_0 1 0\n"))
            .starts_with("the solution has two numbers where y_0_0_0"));
  CHECK(problem_of(file(a + "1 y_1_0_1 1 0\n")) == "the solution uses more nodes than there are");
  for (const char* name : {"y_2_0_0", "y_0_1_0", "y_0_0_2", "y_18446744073709551615_0_0"}) {
    CHECK(problem_of(file(a + b + "2 " + name + " 1 0\n")).find("that there is not") !=
          std::string::npos);
  }
  for (const char* name :
       {"y_", "y_0", "y_0_0", "y_0_0_", "y_0_0_1x", "y_-1_0_0", "y_99999999999999999999_0_0"}) {
    INFO(name);
    CHECK(
        problem_of(file(a + b + "2 " + name + " 1 0\n")).starts_with("the solution has a binary"));
  }
}

TEST_CASE("a plan goes through the solver's formats and comes back with its objective") {
  Dice dice(17);
  for (int i = 0; i < 100; ++i) {
    const HorizonState state = flowcon::test::random_state(dice, true);
    INFO(horizon_lp(state));
    const HorizonDecision best = decide_horizon(state);
    if (best.plan.empty()) continue;
    const double optimum = flowcon::test::optimum_of(state, best.plan.size());
    const auto better = better_plan(state, least_plan(state), solution_of(state, best));
    REQUIRE(better.has_value());
    CHECK(better->objective == Approx(optimum).epsilon(1e-9));
    // Each binary that is 1, and each share served, has its name in the program.
    const std::string lp = horizon_lp(state);
    for (const std::string& name : solution_of(state, best).chosen) {
      REQUIRE(lp.find(" " + name + "\n") != std::string::npos);
    }
  }
}

TEST_CASE("a start has the binaries that are 1, and the share served until each step") {
  HorizonState state = two_jobs();
  state.steps = 2;
  const HorizonDecision decision{0, 0, {{"a", {2, 1}}, {"b", {1, 2}}}, {}};
  CHECK(lp_start(state, decision) ==
        "Feasible - objective value 0\n"
        "0 y_0_0_1 1\n1 s_0_0 0.4\n2 y_0_1_0 1\n3 s_0_1 0.65\n"
        "4 y_1_0_0 1\n5 s_1_0 0.5\n6 y_1_1_1 1\n7 s_1_1 1\n");
}
