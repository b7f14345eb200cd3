// SPDX-License-Identifier: Apache-2.0
#include "sim/flowcon_policy.h"

#include <algorithm>
#include <map>

#include "ctrl/growth/growth.h"
#include "ctrl/policy/executor.h"

namespace flowcon::sim {
namespace {

namespace growth = ctrl::growth;
namespace policy = ctrl::policy;

constexpr double kLeastUse = 0.01;   // as ctrl/job.cpp: a job that waits does not drown the others
constexpr double kClosestLooks = 1;  // seconds; closer than that the old growth is used

// What the daemon holds of a job for Algorithm 1.
struct Watched {
  ctrl::List list = ctrl::List::nl;
  double limit = 1;
  std::optional<double> growth;
  bool is_fresh = false;
  bool has_anchor = false;
  double anchor = 0;
  double anchor_used = 0;
  std::size_t anchor_count = 0;
};

class FlowconHost : public HostPolicy {
 public:
  FlowconHost(const PolicyParameters& parameters, const FlowconOptions& options)
      : parameters_(parameters), options_(options), interval_(parameters.interval) {}

  HostDecision decide(const HostView& view) override;

 private:
  void measure(Watched& job, const Known& known, const HostView& view) const;
  void set_anchor(Watched& job, const Known& known, double now) const;
  [[nodiscard]] policy::ExecutorState state() const;

  PolicyParameters parameters_;
  FlowconOptions options_;
  double interval_;
  std::vector<std::string> members_;
  std::map<std::string, Watched> jobs_;
};

void FlowconHost::set_anchor(Watched& job, const Known& known, double now) const {
  job.has_anchor = true;
  job.anchor = now;
  job.anchor_used = known.used;
  job.anchor_count = known.count;
}

void FlowconHost::measure(Watched& job, const Known& known, const HostView& view) const {
  job.is_fresh = false;
  if (!job.has_anchor) {
    set_anchor(job, known, view.now);
    return;
  }
  const double elapsed = view.now - job.anchor;
  if (elapsed < kClosestLooks) {
    job.is_fresh = job.growth.has_value();
    return;
  }
  const bool is_robust = options_.growth.estimator == growth::Estimator::robust;
  if (known.count == job.anchor_count && is_robust) return;
  const growth::Scale seen{known.head, known.low, known.high};
  const std::optional<double> scale = growth::scale_of(seen, options_.growth.normalise);
  growth::Progress progress;
  if (scale) {
    progress = growth::progress_between(known.samples, job.anchor, view.now, known.goal, *scale,
                                        options_.growth);
  }
  ctrl::Usage use;
  use.cpu = (known.used - job.anchor_used) / elapsed / view.cores;
  if (use.cpu > 0 && is_robust) use.cpu = std::max(use.cpu, kLeastUse);
  const growth::Efficiency efficiency = growth::efficiency(progress, use);
  if (efficiency.cpu) job.growth = efficiency.cpu;
  job.is_fresh = efficiency.cpu && progress.verdict == growth::Verdict::measured;
  set_anchor(job, known, view.now);
}

policy::ExecutorState FlowconHost::state() const {
  policy::ExecutorState state;
  state.alpha = parameters_.alpha;
  state.beta = parameters_.beta;
  state.interval = interval_;
  state.interval_max = parameters_.interval_max;
  state.floor_all = options_.floor_all;
  for (const std::string& id : members_) {
    const Watched& job = jobs_.at(id);
    state.containers.push_back({id, job.list, job.limit, job.is_fresh ? job.growth : std::nullopt});
  }
  return state;
}

HostDecision FlowconHost::decide(const HostView& view) {
  policy::ListenerState listener;
  listener.executor = state();
  listener.initial_interval = parameters_.interval;
  std::map<std::string, const Known*> known;
  for (const Known* job : view.jobs) {
    listener.active.push_back(std::to_string(job->number));
    known[listener.active.back()] = job;
  }
  const policy::ListenerDecision heard = policy::decide_listener(listener);
  for (const std::string& id : heard.departed) jobs_.erase(id);
  for (const std::string& id : heard.arrived) jobs_[id] = Watched();
  interval_ = heard.interval;
  members_ = listener.active;
  for (const std::string& id : members_) measure(jobs_.at(id), *known.at(id), view);

  const policy::ExecutorDecision decided = policy::decide_executor(state());
  interval_ = decided.interval;
  HostDecision decision;
  decision.next = interval_;
  for (const policy::Placement& placement : decided.containers) {
    Watched& job = jobs_.at(placement.id);
    job.list = placement.list;
    job.limit = placement.limit;
    decision.grants.push_back(options_.is_quota ? Grant{1, placement.limit}
                                                : Grant{placement.limit, 1});
  }
  return decision;
}

}  // namespace

std::unique_ptr<HostPolicy> make_paper_flowcon(const PolicyParameters& parameters) {
  FlowconOptions options;
  options.growth.estimator = growth::Estimator::paper;
  options.growth.directed = false;
  options.floor_all = false;
  options.is_quota = true;
  return make_flowcon(parameters, options);
}

std::unique_ptr<HostPolicy> make_flowcon(const PolicyParameters& parameters,
                                         const FlowconOptions& options) {
  return std::make_unique<FlowconHost>(parameters, options);
}

}  // namespace flowcon::sim
