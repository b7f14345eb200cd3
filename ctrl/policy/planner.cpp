// SPDX-License-Identifier: Apache-2.0
#include "ctrl/policy/planner.h"

#include <algorithm>

namespace flowcon::ctrl::policy {

growth::Forecast Planner::forecast(const PlannedJob& job, growth::Chances* kept) const {
  return growth::forecast_of(*job.track, job.goal, memory_.recall(job.training),
                             parameters_.least * cores_, kept);
}

growth::Forecast Planner::forecast(const PlannedJob& job) const {
  const auto kept = kept_.find(job.id);
  return forecast(job, kept == kept_.end() ? nullptr : &kept->second.chances);
}

double Planner::left(const PlannedJob& job) const {
  const auto kept = kept_.find(job.id);
  return growth::left_of(*job.track, memory_.recall(job.training), parameters_.least * cores_,
                         kept == kept_.end() ? nullptr : &kept->second.chances)
      .left;
}

MilestoneState Planner::plan(double now, const std::vector<PlannedJob>& jobs) {
  fair_.advance(now);
  ++turn_;
  std::vector<Kept*> kept;
  kept.reserve(jobs.size());
  for (const PlannedJob& job : jobs) {
    const auto [known, is_new] = kept_.try_emplace(job.id);
    if (is_new) fair_.add(job.id, job.track->used());
    known->second.turn = turn_;
    kept.push_back(&known->second);
  }
  std::erase_if(kept_, [this](const auto& job) {
    if (job.second.turn == turn_) return false;
    fair_.remove(job.first);
    return true;
  });

  MilestoneState state;
  state.cores = cores_;
  state.worth = parameters_.worth;
  state.step = parameters_.step;
  state.floor = parameters_.floor;
  state.inertia = parameters_.inertia;
  state.members.reserve(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const PlannedJob& job = jobs[i];
    const growth::Forecast expected = forecast(job, &kept[i]->chances);
    MilestoneMember member;
    member.id = job.id;
    member.left = expected.left;
    member.left90 = expected.left90;
    member.open90 = expected.open90;
    member.is_blind = expected.basis == growth::Basis::age;
    member.width = job.track->width();
    member.before = kept[i]->rank;
    member.share = kept[i]->share;
    // Of a job whose end is not known it is only known that it has not ended there either.
    double total = job.track->used() + expected.left;
    if (expected.basis == growth::Basis::age) {
      total = std::max(job.track->used(), fair_.used(job.id)) + expected.left;
    }
    fair_.expect(job.id, total, member.width.value_or(cores_));
    state.members.push_back(std::move(member));
  }
  const std::map<std::string, double>& ends = fair_.ends();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto end = ends.find(jobs[i].id);
    if (end == ends.end()) continue;
    const double whole = end->second - jobs[i].arrived;
    state.members[i].due = jobs[i].arrived + (1 + parameters_.lateness) * whole - now;
    if (whole > 0) state.members[i].span = whole;
  }
  return state;
}

void Planner::take(const MilestoneDecision& decision) {
  for (const Ranked& ranked : decision.members) {
    const auto found = kept_.find(ranked.id);
    if (found == kept_.end()) continue;
    found->second.rank = ranked.rank;
    found->second.share = ranked.share;
  }
}

void Planner::end(const PlannedJob& job, double now, bool is_complete) {
  fair_.advance(now);
  fair_.end(job.id, job.track->used());
  kept_.erase(job.id);
  if (!is_complete) return;
  if (const auto run = growth::remembered_run(*job.track, job.goal)) {
    memory_.remember(job.training, *run);
  }
}

}  // namespace flowcon::ctrl::policy
