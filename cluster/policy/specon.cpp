// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/specon.h"

#include "cluster/codec/decision_json.h"

namespace flowcon::cluster::policy {
namespace {

using ctrl::policy::add_round;

std::optional<double> time_of(const std::optional<double>& age) {
  return age ? std::optional(0 - *age) : std::nullopt;
}

}  // namespace

std::vector<std::string> Specon::observe(const std::vector<Observed>& containers, double now,
                                         Rounds* rounds) {
  CategoryRound round = categories_.take_round(containers, options_.categorise_alpha, now,
                                               options_.categorise_interval);
  // Rounds in which nothing happens say nothing, and there are thousands of them a day.
  if (round.is_news) add_round(rounds, round.state, round.decision);
  return std::move(round.decision.requests);
}

bool Specon::wants_to_leave(const std::string& id) const {
  const CategoryState* state = categories_.find(id);
  return options_.speculate && state != nullptr && state->category == Category::cc &&
         !state->migrated;
}

std::optional<Destination> Specon::choose(const SpeculateState& state, double now, Rounds* rounds) {
  const SpeculateDecision decision = decide_speculate(state);
  add_round(rounds, state, decision);
  if (decision.move) {
    return Destination{decision.target, state.draining ? kDrain : SpeculateState::kAlgorithm};
  }
  if (!state.draining) categories_.mark_migrated(state.container, now);
  return std::nullopt;
}

Result<Plan> Specon::plan(const ClusterView& view, Rounds* rounds) {
  const Result<RebalanceQuestion> question = rebalance_question(view, options_.rebalance_idle);
  if (!question) return question.error();
  Plan plan;
  plan.is_due = question->is_due;
  if (!plan.is_due && !view.is_asked_for) return plan;
  RebalanceDecision decision = decide_rebalance(question->state);
  add_round(rounds, question->state, decision);
  plan.moves = std::move(decision.moves);
  plan.evenness = Evenness{decision.balance_factor, decision.branch};
  return plan;
}

const char* Specon::objection(const JobReport& container) const {
  return !container.converged_age && !container.migrated_age ? "the container has not converged"
         : container.rebalanced ? "the container was rebalanced already"
                                : nullptr;
}

void Specon::land(CategoryState& state, const Cause& cause, double now) const {
  ClusterPolicy::land(state, cause, now);
  if (cause == SpeculateState::kAlgorithm) state.migrated = now;
  if (cause == RebalanceState::kAlgorithm) state.rebalanced = true;
}

Result<RebalanceQuestion> rebalance_question(const ClusterView& view, bool when_idle) {
  const Result<std::vector<const HostReport*>> hosts = in_order(view.hosts);
  if (!hosts) return hosts.error();
  RebalanceQuestion question;
  question.state.guard = true;
  std::vector<Activity> activities;
  for (const HostReport* host : *hosts) {
    WorkerLoad worker{host->id, {}};
    Activity activity;
    for (const JobReport& job : host->containers) {
      SettledContainer container{job.id, {}, {}, job.rebalanced};
      if (job.movable && !view.is_barred(job.id)) {
        container.converged_at = time_of(job.converged_age);
        container.migrated_at = time_of(job.migrated_age);
      }
      worker.containers.push_back(std::move(container));
      ++activity.containers;
      if (job.category == Category::cc || job.migrated_age) ++activity.settled;
    }
    question.state.workers.push_back(std::move(worker));
    activities.push_back(activity);
  }
  question.is_due = is_rebalance_due(activities, when_idle);
  return question;
}

}  // namespace flowcon::cluster::policy
