// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/horizon_bound.h"

#include "cluster/policy/horizon_problem.h"
#include "cluster/policy/horizon_sweep.h"
#include "tests/cluster/policy/horizon_states.h"
#include "tests/support/catch.h"

using namespace flowcon::cluster::policy;
using namespace flowcon::cluster::policy::horizon;
using flowcon::test::Dice;

namespace {

std::vector<double> random_prices(Dice& dice, const Model& model) {
  std::vector<double> prices;
  for (int t = 0; t < model.steps; ++t) prices.push_back(dice.one_in(4) ? 0 : dice.share());
  return prices;
}

// Value less price of all responses of the job.
std::vector<double> all_responses(const Model& model, const Job& job,
                                  const std::vector<double>& prices) {
  std::vector<int> choices;
  for (std::size_t k = 0; k < job.numbers.size(); ++k) choices.push_back(static_cast<int>(k));
  std::vector<double> values;
  for (const std::vector<int>& plan : flowcon::test::plans_of(choices, model.steps)) {
    const std::vector<Choice> of(plan.begin(), plan.end());
    double value = value_of(model, job, of.data());
    for (std::size_t t = 0; t < of.size(); ++t) value -= prices[t] * job.numbers[of[t]];
    values.push_back(value);
  }
  return values;
}

}  // namespace

TEST_CASE("dropping the caps bounds every plan, and is optimal where no cap binds") {
  Dice dice(11);
  int certified = 0;
  for (int round = 0; round < 300; ++round) {
    const HorizonState state = flowcon::test::random_state(dice, false);
    const Model model = make_model(state);
    Sweeper sweeper(model);
    double bound = 0;
    const Plan plan = sweeper.uncapped(bound);
    const double optimum = flowcon::test::optimum_of(state, model.jobs.size());
    CAPTURE(round);
    REQUIRE(bound >= optimum - 1e-9);
    bool binds = false;
    for (std::size_t i = 0; i < model.jobs.size(); ++i) {
      const Choice* choices = plan.choices.data() + i * static_cast<std::size_t>(model.steps);
      binds = binds || uncapped_share(model, model.jobs[i], choices) > 1;
    }
    if (binds) continue;
    ++certified;
    REQUIRE(plan.value == Approx(optimum).margin(1e-9));
  }
  CHECK(certified > 20);
}

TEST_CASE("the dual is never below the optimum, with and without options") {
  Dice dice(12);
  for (int round = 0; round < 300; ++round) {
    const HorizonState state = flowcon::test::random_state(dice, round % 2 == 0);
    const Model model = make_model(state);
    const double value = Sweeper(model).least().value;
    const Dual dual = solve_dual(model, value);
    CAPTURE(round);
    REQUIRE(dual.bound >= flowcon::test::optimum_of(state, model.jobs.size()) - 1e-9);
    for (const double price : dual.prices) REQUIRE(price >= 0);
  }
}

TEST_CASE("the best response is that of enumeration, and so are all that lose little") {
  Dice dice(13);
  for (int round = 0; round < 300; ++round) {
    const HorizonState state = flowcon::test::random_state(dice, true);
    const Model model = make_model(state);
    const std::vector<double> prices = random_prices(dice, model);
    Responder responder(model, prices);
    for (const Job& job : model.jobs) {
      const std::vector<double> values = all_responses(model, job, prices);
      const double most = *std::max_element(values.begin(), values.end());
      std::vector<Choice> response(static_cast<std::size_t>(model.steps), 0);
      REQUIRE(responder.best(job, response.data()) == Approx(most).margin(1e-12));
      std::vector<Column> columns;
      const double most_loss = dice.share();
      REQUIRE(responder.all(job, most, most_loss, columns));
      // Once a job has ended, all but the least number is loss alone, so those may be left out.
      for (const Column& column : columns) REQUIRE(column.loss <= most_loss + 1e-12);
      REQUIRE(columns.size() <= values.size());
      REQUIRE(columns.front().loss == Approx(0).margin(1e-12));
    }
  }
}

TEST_CASE("a core of any jobs bounds every plan") {
  Dice dice(14);
  for (int round = 0; round < 200; ++round) {
    const HorizonState state = flowcon::test::random_state(dice, false);
    const Model model = make_model(state);
    const Plan plan = Sweeper(model).least();
    const Dual dual = solve_dual(model, plan.value);
    std::vector<std::uint8_t> is_member(model.jobs.size());
    for (std::uint8_t& is : is_member) is = dice.one_in(2) ? 1 : 0;
    is_member[0] = 1;
    const Problem problem(model, dual, is_member, plan.value);
    CAPTURE(round);
    REQUIRE(problem.bound() >= flowcon::test::optimum_of(state, model.jobs.size()) - 1e-9);
    REQUIRE(problem.members().size() + problem.others().size() == model.jobs.size());
  }
}

TEST_CASE("nodes used are added and compared field by field") {
  const UsageFields fields(190, 5);
  REQUIRE(fields.can_hold());
  Usage a{};
  Usage b{};
  for (int t = 0; t < 5; ++t) {
    fields.add(a, t, 10 * t);
    fields.add(b, t, 190 - 10 * t);
  }
  const Usage sum = UsageFields::sum(a, b);
  for (int t = 0; t < 5; ++t) CHECK(fields.at(sum, t) == 190);
  CHECK(fields.fits(a, sum));
  CHECK(fields.fits(sum, sum));
  for (int t = 0; t < 5; ++t) {
    Usage less = sum;
    less[static_cast<std::size_t>(t / 6)] -= std::uint64_t{1} << (10 * t);
    CHECK_FALSE(fields.fits(sum, less));
  }
  CHECK_FALSE(UsageFields(190, 13).can_hold());
  CHECK(UsageFields(190, 12).can_hold());
}
