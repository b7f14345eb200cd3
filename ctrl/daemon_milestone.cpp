// SPDX-License-Identifier: Apache-2.0
// What each gets where the policy is milestone: tracks of the jobs, the planner's state, and its
// decision made a limit. Memory and block I/O stay with FlowCon's executor.
#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "ctrl/changes.h"
#include "ctrl/codec/milestone_json.h"
#include "ctrl/companion.h"
#include "ctrl/daemon_state.h"
#include "ctrl/log.h"

namespace flowcon::ctrl {
namespace {

// Where our jobs use less of the host together, something else may be what one of them waits for.
constexpr double kBusy = 0.9;

std::string whole(double number) { return render_number(std::round(number)); }

std::string reason_for(const policy::Ranked& ranked, const policy::MilestoneMember& member,
                       std::size_t jobs, const growth::Forecast& forecast) {
  std::string text = "milestone: " + std::to_string(ranked.rank + 1) + " of " +
                     std::to_string(jobs) + ", " + whole(member.left) + " CPU s to its end by ";
  text += name(forecast.basis);
  if (member.left90 && member.open90 > 0) {
    text += ", 90 % of its gain open by " + whole(member.open90 * 100) + " %";
  }
  return text;
}

// Whether changes_of() finds something in it.
bool changes_any(const policy::MilestoneState& state, const policy::MilestoneDecision& decision) {
  for (std::size_t i = 0; i < state.members.size(); ++i) {
    const policy::MilestoneMember& member = state.members[i];
    const policy::Ranked& ranked = decision.members[i];
    if (member.before != ranked.rank) return true;
    if (member.share && std::fabs(ranked.share - *member.share) >= kLeastShareChange) return true;
  }
  return false;
}

}  // namespace

// Whatever the policy: it may become milestone.
Async<void> Daemon::begin_planner() {
  planner_.emplace(host_.cores, policy::PlannerParameters());
  auto read = [this] { return store_->trainings(); };
  const auto trainings = co_await effects_.run(std::move(read));
  if (!trainings) {
    warn(trainings.error().message());
    co_return;
  }
  for (const store::Training& training : *trainings) {
    planner_->remember(training.key, {training.total, training.share90});
  }
}

// At each look, whatever the policy: a policy that is chosen later finds what it needs.
void Daemon::follow_tracks(Moment now) {
  double used = 0;
  for (const std::string& id : members_) used += jobs_.at(id).cpu_share.value_or(0);
  for (auto& [id, job] : jobs_) {
    const bool is_half_read = job.past && tails_.stats(id).is_catching_up;
    follow_track(job, now, used >= kBusy, is_half_read);
  }
}

policy::PlannedJob Daemon::planned(const Job& job) const {
  return {job.id(), training_of(job.container), job.arrived, job.goal, &job.track};
}

std::optional<JobForecast> Daemon::forecast(const std::string& id) const {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || !found->second.has_track || !planner_) return std::nullopt;
  const Job& job = found->second;
  const growth::Forecast expected = planner_->forecast(planned(job));
  const double known = growth::kKnownByAge * policy::PlannerParameters().least * host_.cores;
  const bool is_young = expected.basis == growth::Basis::age && job.track.used() < known;
  if (is_young || !std::isfinite(expected.left)) return std::nullopt;
  return JobForecast{expected.left, job.track.width(), job.track.is_under_way(known)};
}

void Daemon::decide_milestones(Moment now) {
  std::vector<policy::PlannedJob> jobs;
  for (const std::string& id : members_) jobs.push_back(planned(jobs_.at(id)));
  const policy::MilestoneState state = planner_->plan(now.steady, jobs);
  const policy::MilestoneDecision decision = policy::decide_milestone(state);
  planner_->take(decision);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Job& job = jobs_.at(members_[i]);
    const policy::Ranked& ranked = decision.members[i];
    // What has made most of its way is completing, as far as people and other hosts are told.
    job.cpu.list = state.members[i].open90 < 0.5 ? List::cl : List::nl;
    job.cpu.limit = ranked.share;
    job.reason = reason_for(ranked, state.members[i], members_.size(), planner_->forecast(jobs[i]));
  }
  // An order that stays is told once an interval.
  const bool is_same = state.members.size() == last_ranked_ && !changes_any(state, decision);
  if (is_same && now.steady < next_telling_) return;
  last_ranked_ = state.members.size();
  next_telling_ = now.steady + config_.interval;
  if (state.members.empty()) return;
  unrecorded_rounds_.push_back(
      {now.wall, "milestone", "cpu", render_json(to_json(state)), render_json(to_json(decision))});
}

// What each gets when all want the whole host. FlowCon's shares are not of all that there is.
void Daemon::note_guarantees() {
  const bool is_held = config_.policy == PolicyChoice::milestone && config_.limits(Resource::cpu) &&
                       !config_.dry_run;
  const bool is_weighed = config_.limit_mode == cgroups::LimitMode::weight;
  const auto claim = [&](const Job& job) {
    const auto weight = static_cast<double>(job.original.cpu.weight);
    return job.cpu.granted * (is_weighed ? job.settings.weight * weight : 1);
  };
  double all = 0;
  for (const std::string& id : members_) all += claim(jobs_.at(id));
  if (!is_weighed) all = std::max(1.0, all);  // caps that leave some of the host to nobody
  for (const std::string& id : members_) {
    Job& job = jobs_.at(id);
    job.guaranteed = is_held && all > 0 ? claim(job) / all * host_.cores : 0;
  }
}

// Whatever the policy: what is remembered serves when it is milestone.
void Daemon::remember_end(Job& job, Moment now, double time, const std::optional<int>& status,
                          bool is_half_read) {
  follow_track(job, now, false, is_half_read);  // what it printed last
  if (job.past) drop_past(job.id());
  if (!job.has_track) return;
  // One that goes on elsewhere has not ended.
  if (companion_ != nullptr && companion_->is_saving(job.id())) {
    keep_past(job);
    return;
  }
  const bool is_complete = status == 0 && job.saw_all;
  if (planner_) planner_->end(planned(job), now.steady, is_complete);
  if (!is_complete) return;
  const std::optional<growth::Remembered> run = growth::remembered_run(job.track, job.goal);
  if (!run) return;
  const store::Training training{training_of(job.container), time, run->total, run->share90};
  const bool is_queued = effects_.try_post([this, training] {
    if (Result<void> saved = store_->save_training(training); !saved) {
      log::warning(saved.error().message());
    }
  });
  if (!is_queued) log::debug("too many effects wait; a training is not remembered");
}

}  // namespace flowcon::ctrl
