// SPDX-License-Identifier: Apache-2.0
#include "sim/milestone_policy.h"

#include <algorithm>

#include "ctrl/policy/planner.h"
#include "sim/random.h"

namespace flowcon::sim {
namespace {

namespace policy = ctrl::policy;

// Looks are further apart where no milestone is near: this share of the time to the nearest one, as
// fast as that job was ever seen to run, or may run now.
constexpr double kOfNearest = 1.0 / 60;
constexpr double kFarthest = 60;  // seconds

policy::PlannedJob planned(const Known& job, bool has_memory) {
  // Without memory every run is a training of its own.
  std::string training = has_memory ? std::string(job.model) : "run " + std::to_string(job.number);
  return {std::to_string(job.number), std::move(training), job.arrived, job.goal, &job.track};
}

// A run as the daemon's looks would have followed it, alone on its host.
std::optional<ctrl::growth::Remembered> run_of(const JobSpec& job) {
  ctrl::growth::Track track;
  track.look({0, 0, 0, {}}, {});
  for (std::uint32_t k = 1; k <= job.lines; ++k) {
    const double at = static_cast<double>(k) / job.lines;
    const double used = job.used_at(at);
    double value = job.curve->value(at);
    if (job.noise > 0) value += job.noise * job.curve->range() * normal_of(job.noise_seed, k);
    track.look({used, used, 0, at}, {{used, value}});
  }
  return ctrl::growth::remembered_run(track, job.curve->goal());
}

class Host : public MilestoneHost {
 public:
  Host(const Schedule& schedule, const PolicyParameters& parameters, bool is_quota)
      : parameters_(parameters), is_quota_(is_quota) {
    if (!parameters.has_memory) return;
    for (const JobSpec& job : schedule.earlier) {
      if (const auto run = run_of(job)) earlier_.emplace_back(job.model, *run);
    }
  }

  HostDecision decide(const HostView& view) override {
    std::vector<policy::PlannedJob> jobs;
    for (const Known* job : view.jobs) jobs.push_back(planned(*job, parameters_.has_memory));
    policy::Planner& planner = planner_of(view.cores);
    const policy::MilestoneDecision ranked = policy::decide_milestone(planner.plan(view.now, jobs));
    planner.take(ranked);
    HostDecision decision;
    double nearest = kNever;
    for (std::size_t i = 0; i < ranked.members.size(); ++i) {
      const policy::Ranked& job = ranked.members[i];
      const ctrl::growth::Track& track = view.jobs[i]->track;
      decision.grants.push_back(is_quota_ ? Grant{1, job.share} : Grant{job.share, 1});
      const double given = std::min(track.width().value_or(view.cores), job.share * view.cores);
      nearest = std::min(nearest, job.key / std::max(track.widest(), given));
    }
    // One alone has the host at every look, until another comes.
    if (view.jobs.size() > 1) {
      decision.next = std::max(parameters_.observe, std::min(kFarthest, kOfNearest * nearest));
    }
    return decision;
  }

  void end(const Known& job, double now, bool is_complete) override {
    if (planner_) planner_->end(planned(job, parameters_.has_memory), now, is_complete);
  }

  [[nodiscard]] double left(const Known& job, double cores) const override {
    if (planner_) return planner_->left(planned(job, parameters_.has_memory));
    return ctrl::growth::left_of(job.track, std::nullopt, 0.5 * cores).left;
  }

 private:
  policy::Planner& planner_of(double cores) {
    if (!planner_) {
      planner_.emplace(cores, parameters_.planner);
      for (const auto& [model, run] : earlier_) planner_->remember(model, run);
    }
    return *planner_;
  }

  PolicyParameters parameters_;
  bool is_quota_;
  std::vector<std::pair<std::string, ctrl::growth::Remembered>> earlier_;
  std::optional<policy::Planner> planner_;
};

}  // namespace

std::unique_ptr<MilestoneHost> make_milestone(const Schedule& schedule,
                                              const PolicyParameters& parameters, bool is_quota) {
  return std::make_unique<Host>(schedule, parameters, is_quota);
}

}  // namespace flowcon::sim
