// SPDX-License-Identifier: Apache-2.0
#include "sim/drive.h"

#include <algorithm>

namespace flowcon::sim {
namespace {

namespace policy = ctrl::policy;

policy::HostParameters parameters_of(double cores, const PolicyParameters& said) {
  policy::HostParameters parameters;
  static_cast<policy::HostOptions&>(parameters) = said.host;
  parameters.host.cores = cores;
  parameters.is_watched = false;
  parameters.planner = said.planner;
  return parameters;
}

class Driven : public ForecastingHost {
 public:
  Driven(const policy::HostPolicyKind& kind, double cores, const std::vector<EarlierRun>& memory,
         const PolicyParameters& said)
      : has_memory_(said.has_memory),
        is_quota_(said.is_quota),
        forecaster_(cores, said.planner.least),
        policy_(kind.make(parameters_of(cores, said), forecaster_)) {
    if (!has_memory_) return;
    for (const EarlierRun& earlier : memory) forecaster_.remember(earlier.model, earlier.run);
  }

  HostGrants decide(const SimHost& view) override {
    policy::HostView seen;
    seen.now = {view.now, view.now};
    std::vector<std::string> active;
    for (const Known* job : view.jobs) {
      seen.jobs.push_back(view_of(*job));
      active.push_back(seen.jobs.back().id);
    }
    for (const std::string& id : active_) {
      if (std::find(active.begin(), active.end(), id) == active.end()) policy_->forget(id);
    }
    (void)policy_->follow(active, nullptr);
    active_ = std::move(active);
    const policy::HostDecision decided = policy_->decide(seen, nullptr);
    HostGrants decision;
    decision.next = decided.next;
    for (const policy::Standing& job : decided.jobs) {
      decision.grants.push_back(is_quota_ ? Grant{1, job.cpu.limit} : Grant{job.cpu.limit, 1});
    }
    return decision;
  }

  void end(const Known& job, double now, bool is_complete) override {
    const policy::JobView seen = view_of(job);
    policy_->end(seen, now);
    forecaster_.end(seen, is_complete);
  }

  [[nodiscard]] std::optional<double> left(const Known& job) const override {
    return forecaster_.left(view_of(job));
  }

 private:
  [[nodiscard]] policy::JobView view_of(const Known& job) const {
    policy::JobView view;
    view.id = std::to_string(job.number);
    // Without memory every run is a training of its own.
    view.training = has_memory_ ? std::string(job.model) : "run " + view.id;
    // What goes on elsewhere is another container.
    if (job.moves > 0) view.id += "." + std::to_string(job.moves);
    view.arrived = job.arrived;
    view.used = ctrl::Used{job.used, job.memory, std::nullopt, 0};
    view.report = &job.report;
    view.goal = job.report.goal;
    view.track = &job.track;
    return view;
  }

  bool has_memory_;
  bool is_quota_;
  policy::Forecaster forecaster_;
  std::unique_ptr<policy::HostPolicy> policy_;
  std::vector<std::string> active_;
};

}  // namespace

std::unique_ptr<ForecastingHost> drive(std::string_view name, double cores,
                                       const std::vector<EarlierRun>& memory,
                                       const PolicyParameters& parameters) {
  return std::make_unique<Driven>(*policy::find_host_policy(name), cores, memory, parameters);
}

}  // namespace flowcon::sim
