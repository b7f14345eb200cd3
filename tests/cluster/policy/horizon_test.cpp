// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/horizon.h"

#include "cluster/policy/horizon_sweep.h"
#include "tests/cluster/policy/horizon_states.h"
#include "tests/support/catch.h"

using namespace flowcon::cluster::policy;
using flowcon::test::Dice;

namespace {

HorizonJob job(const char* id, double left, std::int64_t n_min, std::int64_t n_max) {
  HorizonJob made;
  made.id = id;
  made.left = left;
  made.n_min = n_min;
  made.n_max = n_max;
  return made;
}

HorizonState state_of(std::int64_t nodes, int steps, std::vector<HorizonJob> jobs) {
  HorizonState state;
  state.nodes = nodes;
  state.steps = steps;
  state.minutes = 60;
  state.jobs = std::move(jobs);
  return state;
}

// What the plan is worth by §11; -1 where it breaks a rule.
double checked_objective(const HorizonState& state, const HorizonDecision& decision) {
  double sum = 0;
  std::vector<std::int64_t> used(static_cast<std::size_t>(state.steps), 0);
  for (std::size_t i = 0; i < decision.plan.size(); ++i) {
    const HorizonPlan& plan = decision.plan[i];
    const std::vector<int> numbers = legal_numbers(state, state.jobs[i]);
    if (plan.id != state.jobs[i].id || plan.nodes.size() != used.size()) return -1;
    for (std::size_t t = 0; t < used.size(); ++t) {
      if (std::find(numbers.begin(), numbers.end(), plan.nodes[t]) == numbers.end()) return -1;
      used[t] += plan.nodes[t];
      if (used[t] > state.nodes) return -1;
    }
    sum += flowcon::test::objective_of(state, state.jobs[i], plan.nodes);
  }
  return sum;
}

}  // namespace

TEST_CASE("legal numbers are powers of two between the job's bounds and the nodes there are") {
  HorizonState state = state_of(20, 1, {job("a", 1, 3, 40)});
  CHECK(legal_numbers(state, state.jobs[0]) == std::vector<int>{4, 8, 16});
  state.allow_zero = true;
  CHECK(legal_numbers(state, state.jobs[0]) == std::vector<int>{0, 4, 8, 16});
  state.jobs[0] = job("a", 1, 0, 1);
  state.allow_zero = false;
  CHECK(legal_numbers(state, state.jobs[0]) == std::vector<int>{1});
  state.jobs[0].n_min = 5;
  state.jobs[0].n_max = 7;
  CHECK(legal_numbers(state, state.jobs[0]).empty());
}

TEST_CASE("twice the nodes are 1.6 times as fast, unless the job has speeds of its own") {
  HorizonJob a = job("a", 1, 1, 8);
  CHECK(speed_of(a, 1) == 1);
  CHECK(speed_of(a, 8) == Approx(4.096).epsilon(1e-12));
  a.speed = {{1, 1.5}, {2, 1.25}};
  CHECK(speed_of(a, 2) == 1.25);
  CHECK(speed_of(a, 0) == 0);
}

TEST_CASE("what is served counts in its step and in all that follow, up to what is left") {
  const auto decision = decide_horizon(state_of(1, 3, {job("a", 2, 1, 1)}));
  CHECK(decision.objective == 2.5);  // 1/2, 2/2, 2/2
  CHECK(decision.bound == 2.5);
}

TEST_CASE("no jobs: no objective, nothing planned") {
  const auto decision = decide_horizon(state_of(5, 3, {}));
  CHECK(decision.objective == 0);
  CHECK(decision.bound == 0);
  CHECK(decision.plan.empty());
}

TEST_CASE("the first job whose least number does not fit waits, with all behind it") {
  HorizonState state = state_of(6, 2, {job("a", 1, 2, 2), job("b", 1, 4, 4), job("c", 1, 1, 1)});
  CHECK(decide_horizon(state).waiting == std::vector<std::string>{"c"});
  state.jobs[1].n_min = 5;
  state.jobs[1].n_max = 8;
  state.nodes = 8;
  const auto decision = decide_horizon(state);
  CHECK(decision.waiting == std::vector<std::string>{"b", "c"});
  REQUIRE(decision.plan.size() == 1);
  state.allow_zero = true;
  CHECK(decide_horizon(state).waiting.empty());
}

TEST_CASE("a job that may be parked is, where others are nearer to their end") {
  HorizonState state = state_of(1, 2, {job("long", 10, 1, 1), job("short", 1, 1, 1)});
  state.allow_zero = true;
  const auto decision = decide_horizon(state);
  CHECK(decision.plan[0].nodes == std::vector<int>{0, 1});
  CHECK(decision.plan[1].nodes == std::vector<int>{1, 0});
}

TEST_CASE("nobody is resized for less than the pause costs") {
  HorizonState state = state_of(4, 2, {job("a", 100, 1, 4)});
  state.jobs[0].now = 2;
  state.pause = 3600;
  CHECK(decide_horizon(state).plan[0].nodes == std::vector<int>{2, 2});
  state.pause = 60;
  CHECK(decide_horizon(state).plan[0].nodes == std::vector<int>{4, 4});
  state.pause = 3600;  // whose number is not known pays nothing at first
  state.jobs[0].now.reset();
  CHECK(decide_horizon(state).plan[0].nodes == std::vector<int>{4, 4});
}

TEST_CASE("small states get the optimum, and it is proven") {
  const bool has_options = GENERATE(false, true);
  Dice dice(has_options ? 2 : 1);
  for (int round = 0; round < 200; ++round) {
    const HorizonState state = flowcon::test::random_state(dice, has_options);
    CAPTURE(has_options, round);
    const auto decision = decide_horizon(state);
    const double optimum = flowcon::test::optimum_of(state, decision.plan.size());
    REQUIRE(checked_objective(state, decision) == Approx(decision.objective).margin(1e-9));
    REQUIRE(decision.objective == Approx(optimum).margin(1e-9));
    REQUIRE(decision.bound >= decision.objective);
    REQUIRE(decision.bound == Approx(optimum).margin(1e-9));
  }
}

TEST_CASE("the starts alone give a plan, and a bound that no plan exceeds") {
  Dice dice(3);
  for (int round = 0; round < 200; ++round) {
    const HorizonState state = flowcon::test::random_state(dice, true);
    CAPTURE(round);
    const auto decision = decide_horizon(state, HorizonEffort::plan);
    const double optimum = flowcon::test::optimum_of(state, decision.plan.size());
    REQUIRE(checked_objective(state, decision) == Approx(decision.objective).margin(1e-9));
    REQUIRE(decision.objective <= optimum + 1e-9);
    REQUIRE(decision.bound >= optimum - 1e-9);
  }
}

TEST_CASE("a knapsack gives what enumeration gives, for any number of nodes") {
  Dice dice(4);
  for (int round = 0; round < 300; ++round) {
    const int jobs = dice.upto(1, 5);
    const int spare = dice.upto(0, 12);
    std::vector<std::vector<int>> numbers;
    std::vector<std::vector<double>> worth;
    horizon::Knapsack knapsack;
    knapsack.reset(spare);
    for (int i = 0; i < jobs; ++i) {
      numbers.push_back(dice.one_in(2) ? std::vector<int>{0, 1, 2, 4} : std::vector<int>{2, 4, 8});
      worth.emplace_back();
      for (std::size_t k = 0; k < numbers.back().size(); ++k) worth.back().push_back(dice.share());
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) knapsack.add(numbers[i], worth[i].data());
    std::vector<double> best(static_cast<std::size_t>(spare) + 1, 0);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      std::vector<double> next(best.size(), -1);
      for (std::size_t c = 0; c < best.size(); ++c) {
        for (std::size_t k = 0; k < numbers[i].size(); ++k) {
          const auto more = static_cast<std::size_t>(numbers[i][k] - numbers[i][0]);
          if (more <= c) next[c] = std::max(next[c], best[c - more] + worth[i][k]);
        }
      }
      best.swap(next);
    }
    std::vector<std::uint8_t> choices;
    knapsack.choose(spare, choices);
    double chosen = 0;
    int used = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      chosen += worth[i][choices[i]];
      used += numbers[i][choices[i]] - numbers[i][0];
    }
    CAPTURE(round);
    REQUIRE(knapsack.best(spare) == Approx(best.back()).margin(1e-12));
    REQUIRE(chosen == Approx(best.back()).margin(1e-12));
    REQUIRE(used <= spare);
  }
}

TEST_CASE("after a sweep no other choice of one step is better") {
  Dice dice(5);
  for (int round = 0; round < 100; ++round) {
    const HorizonState state = flowcon::test::random_state(dice, true);
    const horizon::Model model = horizon::make_model(state);
    horizon::Sweeper sweeper(model);
    horizon::Plan plan = sweeper.least();
    sweeper.sweep(plan, dice.one_in(2));
    REQUIRE(plan.value == Approx(horizon::value_of(model, plan)));
    // One step, every choice of every job in it.
    const auto steps = static_cast<std::size_t>(model.steps);
    for (std::size_t t = 0; t < steps; ++t) {
      std::map<int, double> reached{{0, 0}};
      for (std::size_t i = 0; i < model.jobs.size(); ++i) {
        std::vector<horizon::Choice> own(plan.choices.begin() + static_cast<long>(i * steps),
                                         plan.choices.begin() + static_cast<long>((i + 1) * steps));
        std::map<int, double> next;
        for (std::size_t k = 0; k < model.jobs[i].numbers.size(); ++k) {
          own[t] = static_cast<horizon::Choice>(k);
          const double value = horizon::value_of(model, model.jobs[i], own.data());
          for (const auto& [used, sum] : reached) {
            const int nodes = used + model.jobs[i].numbers[k];
            if (nodes > state.nodes) continue;
            double& best = next.try_emplace(nodes, 0).first->second;
            best = std::max(best, sum + value);
          }
        }
        reached.swap(next);
      }
      for (const auto& [used, value] : reached) REQUIRE(value <= plan.value + 1e-9);
    }
  }
}

TEST_CASE("the same state gives the same decision") {
  Dice dice(6);
  const HorizonState state = flowcon::test::random_state(dice, true);
  const auto one = decide_horizon(state);
  const auto other = decide_horizon(state);
  CHECK(one.objective == other.objective);
  for (std::size_t i = 0; i < one.plan.size(); ++i) CHECK(one.plan[i].nodes == other.plan[i].nodes);
}

TEST_CASE("states beyond what can be searched get a plan that keeps to the rules") {
  HorizonState state = state_of(5000, 12, {});
  Dice dice(7);
  for (int i = 0; i < 1500; ++i) {
    state.jobs.push_back(job("", 20 * dice.share() + 0.1, 1, 64));
    state.jobs.back().id = "j" + std::to_string(i);
  }
  const auto decision = decide_horizon(state);
  const double objective = checked_objective(state, decision);
  CHECK(objective == Approx(decision.objective));
  CHECK(decision.bound >= decision.objective);
  CHECK(objective >= decide_horizon(state, HorizonEffort::plan).objective - 1e-6);
  CHECK(decision.bound <= 1500 * 12);  // every share is at most 1 in every step
}
