// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/horizon.h"

#include <algorithm>

#include "cluster/policy/horizon_bound.h"
#include "cluster/policy/horizon_core.h"
#include "cluster/policy/horizon_model.h"
#include "cluster/policy/horizon_sweep.h"

namespace flowcon::cluster::policy {
namespace {

using namespace horizon;

HorizonDecision written(const HorizonState& state, const Model& model, const Plan& plan) {
  HorizonDecision decision;
  decision.objective = plan.value;
  const Choice* choice = plan.choices.data();
  for (std::size_t i = 0; i < model.jobs.size(); ++i) {
    HorizonPlan job{state.jobs[i].id, {}};
    for (int t = 0; t < model.steps; ++t) job.nodes.push_back(model.jobs[i].numbers[*choice++]);
    decision.plan.push_back(std::move(job));
  }
  for (std::size_t i = model.jobs.size(); i < state.jobs.size(); ++i) {
    decision.waiting.push_back(state.jobs[i].id);
  }
  return decision;
}

constexpr std::size_t kMostWithPauses = 100;

// What all would have if each had its fastest number in every step.
double bound_of_each_alone(const Model& model) {
  double bound = 0;
  for (const Job& job : model.jobs) {
    const double gain = *std::max_element(job.gain.begin(), job.gain.end());
    for (int t = 1; t <= model.steps; ++t) bound += std::min(1.0, t * gain);
  }
  return bound;
}

}  // namespace

HorizonDecision decide_horizon(const HorizonState& state, HorizonEffort effort) {
  const Model model = make_model(state);
  if (model.jobs.empty()) return written(state, model, {});
  Sweeper sweeper(model);
  double bound = 0;
  Plan plan = sweeper.uncapped(bound);
  bound = std::min(bound, bound_of_each_alone(model));
  if (bound > plan.value + kRounding) {
    Plan swept = sweeper.best_of_starts();
    if (swept.value > plan.value) plan = std::move(swept);
  }
  // With pauses every job is searched through.
  const bool is_too_much = model.has_pause && model.jobs.size() > kMostWithPauses;
  if (effort == HorizonEffort::full && !is_too_much && bound > plan.value + kRounding) {
    const Dual dual = solve_dual(model, plan.value);
    bound = std::min(bound, dual.bound);
    if (bound > plan.value + kRounding) improve_plan(model, dual, sweeper, plan, bound);
  }
  HorizonDecision decision = written(state, model, plan);
  decision.bound = bound > plan.value + kRounding ? bound : plan.value;
  return decision;
}

}  // namespace flowcon::cluster::policy
