// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/planning.h"

#include <algorithm>

namespace flowcon::ctrl {
namespace {

policy::HostParameters parameters_of(const Config& config, const Host& host) {
  policy::HostParameters said;
  static_cast<policy::HostOptions&>(said) = config;
  said.host = host;
  for (const Resource resource : config.limiting.resources) {
    if (resource != Resource::cpu) said.others.push_back(resource);
  }
  return said;
}

}  // namespace

Planning::Planning(const Config& config, const Host& host)
    : host_(host),
      usable_(config.usable_cpu()),
      forecaster_(host.cores, policy::PlannerParameters().least),
      name_(config.policy),
      policy_(policy::find_host_policy(name_)->make(parameters_of(config, host), forecaster_)) {}

void Planning::configure(const Config& config, const Jobs& jobs) {
  const policy::HostParameters parameters = parameters_of(config, host_);
  usable_ = config.usable_cpu();
  if (config.policy == name_) return policy_->configure(parameters);
  const double interval = policy_->interval();
  name_ = config.policy;
  policy_ = policy::find_host_policy(name_)->make(parameters, forecaster_);
  policy_->resume_interval(interval);
  for (const std::string& id : members_) {
    const auto job = jobs.find(id);
    policy_->resume(id, job == jobs.end() ? policy::Standing() : standing_of(job->second));
  }
}

bool Planning::follow(const std::vector<std::string>& active, policy::Rounds& rounds) {
  if (!policy_->follow(active, &rounds)) return false;
  members_ = active;
  return true;
}

bool Planning::is_member(const std::string& id) const {
  return std::find(members_.begin(), members_.end(), id) != members_.end();
}

// What the members use is there, whatever else has been measured.
double Planning::cores_there(const Jobs& jobs, double others) const {
  double used = 0;
  for (const auto& [id, job] : jobs) {
    (is_member(id) ? used : others) += job.cpu_share.value_or(0) * host_.cores;
  }
  return std::min(std::max(host_.cores - others, used), usable_ * host_.cores);
}

double Planning::decide(Jobs& jobs, Moment now, double others, policy::Rounds& rounds) {
  policy::HostView view;
  view.now = now;
  view.cores_there = cores_there(jobs, others);
  for (const std::string& id : members_) view.jobs.push_back(view_of(jobs.at(id)));
  for (const auto& [id, job] : jobs) {
    if (job.unsupported.empty() && !is_member(id)) view.watched.push_back(view_of(job));
  }
  const policy::HostDecision decision = policy_->decide(view, &rounds);
  for (std::size_t i = 0; i < view.jobs.size(); ++i) {
    Job& job = jobs.at(view.jobs[i].id);
    take_standing(job, decision.jobs[i]);
    job.reason = policy_->reason(job.id());
  }
  for (std::size_t i = 0; i < view.watched.size(); ++i) {
    take_standing(jobs.at(view.watched[i].id), decision.watched[i]);
  }
  return decision.next;
}

void Planning::resume(const Job& job) {
  members_.push_back(job.id());
  policy_->resume(job.id(), standing_of(job));
}

void Planning::end(const Job& job, double now, bool is_complete) {
  const policy::JobView view = view_of(job);
  policy_->end(view, now);
  forecaster_.end(view, is_complete);
}

std::optional<JobForecast> Planning::forecast(const Job& job) const {
  const std::optional<double> left = forecaster_.left(view_of(job));
  if (!left) return std::nullopt;
  JobForecast forecast{*left, job.track.width(), job.track.is_under_way(forecaster_.young())};
  const bool is_counted = !job.track.is_cyclic() && !job.track.counts().empty();
  if (is_counted) forecast.done = job.track.counts().back().value;
  return forecast;
}

}  // namespace flowcon::ctrl
