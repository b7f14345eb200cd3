// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/place.h"

#include <optional>

#include "cluster/policy/best_fit.h"
#include "cluster/policy/grouping.h"

namespace flowcon::cluster::policy {
namespace {

Error too_much() {
  return bad_input("nodes: so many tasks, tried on so many nodes, would take too long");
}

using JobsPlaces = std::vector<std::optional<JobPlaces>>;

Result<JobsPlaces> one_by_one(const PlaceModel& model, bool is_seeded, bool removes_used) {
  BestFit best_fit(model, is_seeded, removes_used);
  JobsPlaces places;
  for (std::size_t job = 0; job < model.jobs.size(); ++job) places.push_back(best_fit.place(job));
  if (best_fit.is_exhausted()) return too_much();
  return places;
}

Result<PlaceDecision> decide_immediate(const PlaceState& state, const PlaceModel& model) {
  const auto places = one_by_one(model, state.seeded, state.remove_used);
  if (!places) return places.error();
  PlaceDecision decision;
  std::vector<const std::string*> node_of(state.tasks.size(), nullptr);
  for (std::size_t job = 0; job < model.jobs.size(); ++job) {
    const auto& place = (*places)[job];
    if (!place) decision.unplaced.emplace_back(model.job_ids[job]);
    for (std::size_t i = 0; place && i < model.jobs[job].size(); ++i) {
      const std::size_t task = model.jobs[job][i];
      node_of[task] = &state.nodes[place->nodes[i]].id;
      decision.trace.push_back({{state.tasks[task].id, *node_of[task]}, place->scores[i]});
    }
  }
  for (std::size_t task = 0; task < state.tasks.size(); ++task) {
    if (node_of[task]) decision.placement.push_back({state.tasks[task].id, *node_of[task]});
  }
  return decision;
}

// The seeded places of the first `jobs` jobs as a plan.
GroupPlan plan_of(const PlaceModel& model, const JobsPlaces& places, std::size_t jobs) {
  const Planner planner(model, jobs);
  GroupPlan plan = planner.empty_plan();
  for (std::size_t job = 0; job < jobs; ++job) {
    for (std::size_t i = 0; i < model.jobs[job].size(); ++i) {
      planner.put(plan, static_cast<std::uint32_t>(model.jobs[job][i]),
                  static_cast<std::uint32_t>(places[job]->nodes[i]));
    }
  }
  return plan;
}

// For as many jobs as possible from the first on: as many as the seeded plan has, or more, for
// which a plan is found while none is for one more.
std::optional<GroupPlan> best_plan(const PlaceModel& model, const JobsPlaces& seeded,
                                   const PlaceState& state, std::size_t* jobs) {
  *jobs = 0;
  while (*jobs < seeded.size() && seeded[*jobs]) ++*jobs;
  std::optional<GroupPlan> first;
  if (*jobs > 0) first = plan_of(model, seeded, *jobs);
  for (std::size_t end = seeded.size(); *jobs < end;) {
    const std::size_t middle = (*jobs + end + 1) / 2;
    if (auto more = Grouping(model, middle, state.seed, state.plans).any()) {
      first = std::move(more);
      *jobs = middle;
    } else {
      end = middle - 1;
    }
  }
  if (!first) return first;
  return Grouping(model, *jobs, state.seed, state.plans).best(*first);
}

Result<PlaceDecision> decide_batch(const PlaceState& state, const PlaceModel& model) {
  const auto seeded = one_by_one(model, true, false);
  if (!seeded) return seeded.error();
  std::size_t jobs = 0;
  const auto plan = best_plan(model, *seeded, state, &jobs);
  PlaceDecision decision;
  decision.mode = PlaceMode::batch;
  for (std::size_t job = jobs; job < model.jobs.size(); ++job) {
    decision.unplaced.emplace_back(model.job_ids[job]);
  }
  if (!plan) return decision;
  decision.score = plan->score;
  decision.fitness = plan->fitness;
  for (std::size_t task = 0; task < state.tasks.size(); ++task) {
    if (plan->node_of[task] == Planner::kNowhere) continue;
    decision.placement.push_back({state.tasks[task].id, state.nodes[plan->node_of[task]].id});
  }
  return decision;
}

}  // namespace

Result<PlaceDecision> decide_place(const PlaceState& state) {
  const PlaceModel model(state);
  return state.mode == PlaceMode::batch ? decide_batch(state, model)
                                        : decide_immediate(state, model);
}

}  // namespace flowcon::cluster::policy
