// SPDX-License-Identifier: Apache-2.0
#include "sim/milestone_policy.h"

#include <algorithm>

#include "ctrl/policy/planner.h"

namespace flowcon::sim {
namespace {

namespace growth = ctrl::growth;
namespace policy = ctrl::policy;

// Looks are further apart where no milestone is near: this share of the time to the nearest one, as
// fast as that job was ever seen to run, or may run now.
constexpr double kOfNearest = 1.0 / 60;
constexpr double kFarthest = 60;  // seconds

policy::PlannedJob planned(const Known& job, bool has_memory) {
  std::string id = std::to_string(job.number);
  // Without memory every run is a training of its own.
  std::string training = has_memory ? std::string(job.model) : "run " + id;
  // What goes on elsewhere is another container.
  if (job.moves > 0) id += "." + std::to_string(job.moves);
  return {std::move(id), std::move(training), job.arrived, job.goal, &job.track};
}

class Host : public MilestoneHost {
 public:
  Host(double cores, const std::vector<EarlierRun>& memory, const PolicyParameters& parameters,
       bool is_quota)
      : parameters_(parameters),
        is_quota_(is_quota),
        young_(growth::kKnownByAge * parameters.planner.least * cores),
        planner_(cores, parameters.planner) {
    if (!parameters.has_memory) return;
    for (const EarlierRun& earlier : memory) planner_.remember(earlier.model, earlier.run);
  }

  HostDecision decide(const HostView& view) override {
    std::vector<policy::PlannedJob> jobs;
    for (const Known* job : view.jobs) jobs.push_back(planned(*job, parameters_.has_memory));
    const policy::MilestoneDecision ranked =
        policy::decide_milestone(planner_.plan(view.now, jobs));
    planner_.take(ranked);
    HostDecision decision;
    double nearest = kNever;
    for (std::size_t i = 0; i < ranked.members.size(); ++i) {
      const policy::Ranked& job = ranked.members[i];
      const growth::Track& track = view.jobs[i]->track;
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
    planner_.end(planned(job, parameters_.has_memory), now, is_complete);
  }

  [[nodiscard]] std::optional<double> left(const Known& job) const override {
    const policy::PlannedJob one = planned(job, parameters_.has_memory);
    const bool is_young = job.track.used() < young_;
    if (is_young && planner_.forecast(one).basis == growth::Basis::age) return std::nullopt;
    return planner_.left(one);
  }

 private:
  PolicyParameters parameters_;
  bool is_quota_;
  double young_;  // CPU seconds
  policy::Planner planner_;
};

}  // namespace

std::unique_ptr<MilestoneHost> make_milestone(double cores, const std::vector<EarlierRun>& memory,
                                              const PolicyParameters& parameters, bool is_quota) {
  return std::make_unique<Host>(cores, memory, parameters, is_quota);
}

}  // namespace flowcon::sim
