// SPDX-License-Identifier: Apache-2.0
#include "ctrl/policy/flowcon.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/json.h"
#include "ctrl/codec/decision_json.h"

namespace flowcon::ctrl::policy {
namespace {

// Values before the anchor that are kept for the trend: as many as it asks for.
constexpr std::size_t kAnchorSamples = 32;

// A job that waits (for a GPU, for data) uses next to no CPU, and the quotient would drown all
// others. Below this share of the host its use counts as this. Ours, with the robust estimator.
constexpr double kLeastUse = 0.01;

constexpr double kClosestLooks = 1;  // seconds; ALGORITHMS: below that the old growth is used

// A job may take long between two values (an epoch an hour). It counts as silent when it has said
// nothing for five times its usual gap, and for five intervals.
constexpr double kSilentGaps = 5;
constexpr double kSilentIntervals = 5;

double usual_gap(const metrics::Report& report) {
  if (report.samples.size() < 2) return 0;
  return (report.samples.back().time - report.samples.front().time) /
         static_cast<double>(report.samples.size() - 1);
}

// The samples since the anchor, from `first` on, and those kept of before it. A fast job prints
// more in an interval than is kept of it, and without E at the anchor there is no progress to see.
std::vector<Sample> joined(const std::vector<Sample>& before, const std::vector<Sample>& present,
                           std::size_t first) {
  std::vector<Sample> samples;
  for (const Sample& sample : before) {
    if (first == present.size() || sample.time < present[first].time) samples.push_back(sample);
  }
  samples.insert(samples.end(), present.begin() + static_cast<std::ptrdiff_t>(first),
                 present.end());
  return samples;
}

std::string percent(double share) { return render_number(std::round(share * 1e4) / 100) + " %"; }

}  // namespace

Flowcon::Flowcon(const HostParameters& parameters)
    : parameters_(parameters), interval_(parameters.interval) {}

void Flowcon::configure(const HostParameters& parameters) {
  parameters_ = parameters;
  resume_interval(interval_);
}

void Flowcon::resume_interval(double interval) {
  interval_ = std::clamp(interval, parameters_.interval,
                         std::max(parameters_.interval, parameters_.interval_max));
}

void Flowcon::resume(const std::string& id, const Standing& standing) {
  jobs_[id].standing = standing;
  members_.push_back(id);
}

void Flowcon::set_anchor(Watched& job, const JobView& seen, const Moment& now) {
  const metrics::Report& report = *seen.report;
  job.has_anchor = true;
  job.anchor = now;
  job.used = *seen.used;
  job.count = report.count;
  const auto kept =
      std::min(report.samples.size() - report.first_behind(job.incomparable), kAnchorSamples);
  job.samples.assign(report.samples.end() - static_cast<std::ptrdiff_t>(kept),
                     report.samples.end());
  job.series = report.id();
}

Usage Flowcon::usage_of(const Watched& job, const JobView& seen, double elapsed) const {
  Usage use;
  const double used = std::max(0.0, seen.used->cpu - job.used.cpu);
  use.cpu = used / elapsed / parameters_.host.cores;
  use.memory = seen.used->memory / parameters_.host.memory;
  const auto moved = rate_of(seen.used->io, job.used.io, elapsed);
  const auto all = rate_of(seen.used->host_io, job.used.host_io, elapsed);
  // What a container reads from memory disks is not in the disks' total.
  if (moved && all) use.io = *moved > 0 ? *moved / std::max(*moved, *all) : 0;
  if (parameters_.growth.estimator != growth::Estimator::robust) return use;
  for (const Resource resource : kResources) {
    if (use[resource] > 0) use[resource] = std::max(use[resource], kLeastUse);
  }
  return use;
}

growth::Progress Flowcon::progress_of(const Watched& job, const JobView& seen,
                                      const Moment& now) const {
  const metrics::Report& report = *seen.report;
  const growth::Scale range{report.head, report.low, report.high};
  const std::optional<double> scale = growth::scale_of(range, parameters_.growth.normalise);
  // Without a scale there may be a verdict: the value is no number.
  return growth::progress_between(
      joined(job.samples, report.samples, report.first_behind(job.incomparable)), job.anchor.wall,
      now.wall, report.goal, scale.value_or(0), parameters_.growth);
}

// With the robust estimator a job without a new value since it was last measured is "not measured"
// this time; the time goes on counting from that measurement. A job that was silent for long goes
// back to NL: it is never counted as converged.
void Flowcon::measure(Watched& job, const JobView& seen, const Moment& now) const {
  Standing& standing = job.standing;
  for (const Resource resource : kResources) standing[resource].is_fresh = false;
  if (seen.is_frozen || seen.report == nullptr || !seen.used) return;
  const metrics::Report& report = *seen.report;
  // Another series was chosen meanwhile: its values have nothing to do with the kept ones.
  const bool was_chosen = !job.series.metric.empty();
  const bool is_other_series = (was_chosen || seen.clock_from > 0) && !report.is_of(job.series);
  const bool is_new = !job.has_anchor || is_other_series;
  const double since = is_new ? 0 : job.anchor.steady;
  if (is_new || since < seen.comparable_from) {
    if (is_new) job.incomparable = 0;
    if (since < seen.clock_from) job.incomparable = report.printed;
    set_anchor(job, seen, now);
    return;
  }
  const double elapsed = now.steady - job.anchor.steady;
  if (elapsed < kClosestLooks) {
    for (const Resource resource : kResources) {
      Share& share = standing[resource];
      share.is_fresh = share.growth.has_value() && standing.verdict == growth::Verdict::measured;
    }
    return;
  }
  if (report.count == job.count && parameters_.growth.estimator == growth::Estimator::robust) {
    const double silence = now.wall - job.anchor.wall;
    const double most = kSilentIntervals * parameters_.interval;
    if (silence > std::max(kSilentGaps * usual_gap(report), most)) {
      for (const Resource resource : kResources) standing[resource].list = List::nl;
      standing.verdict = growth::Verdict::unmeasured;
    }
    return;
  }
  const growth::Progress progress = progress_of(job, seen, now);
  const growth::Efficiency efficiency = growth::efficiency(progress, usage_of(job, seen, elapsed));
  standing.verdict = progress.verdict;
  // A job that diverges keeps its place: it has not converged, whatever its growth of 0 suggests.
  const bool is_measured = progress.verdict == growth::Verdict::measured;
  for (const Resource resource : kResources) {
    const std::optional<double>& growth = efficiency[resource];
    if (growth) standing[resource].growth = growth;
    standing[resource].is_fresh = growth.has_value() && is_measured;
  }
  set_anchor(job, seen, now);
}

void Flowcon::measure(const HostView& view) {
  std::set<std::string> seen;
  for (const std::vector<JobView>* jobs : {&view.jobs, &view.watched}) {
    for (const JobView& job : *jobs) {
      measure(jobs_[job.id], job, view.now);
      seen.insert(job.id);
    }
  }
  std::erase_if(jobs_, [&](const auto& job) { return !seen.contains(job.first); });
}

ExecutorState Flowcon::executor_state(Resource resource) const {
  ExecutorState state;
  state.alpha = parameters_.alpha;
  state.beta = parameters_.beta;
  state.interval = interval_;
  state.interval_max = parameters_.interval_max;
  state.floor_all = parameters_.floor_all;
  for (const std::string& id : members_) {
    Member member;
    member.id = id;
    if (const auto found = jobs_.find(id); found != jobs_.end()) {
      const Share& share = found->second.standing[resource];
      member.list = share.list;
      member.limit = share.limit;
      member.growth = share.growth_for_decision();
    }
    state.containers.push_back(std::move(member));
  }
  return state;
}

bool Flowcon::follow(const std::vector<std::string>& active, Rounds* rounds) {
  ListenerState state;
  state.executor = executor_state(Resource::cpu);
  state.initial_interval = parameters_.interval;
  state.active = active;
  const ListenerDecision decision = decide_listener(state);
  if (!decision.rerun) return false;
  add_round(rounds, state, decision);
  interval_ = decision.interval;
  members_ = active;
  for (const std::string& id : decision.arrived) {
    static_cast<PerResource<Share>&>(jobs_[id].standing) = PerResource<Share>();
  }
  return true;
}

ExecutorDecision Flowcon::run_executor(Resource resource, Rounds* rounds) {
  const ExecutorState state = executor_state(resource);
  ExecutorDecision decision = decide_executor(state);
  // Where a resource is used by nobody its rounds say nothing.
  bool has_news = resource == Resource::cpu;
  for (const Placement& placement : decision.containers) {
    Share& share = jobs_[placement.id].standing[resource];
    has_news = has_news || share.is_fresh;
    share.list = placement.list;
    share.limit = placement.limit;
  }
  if (has_news && !state.containers.empty()) add_round(rounds, state, decision, resource);
  return decision;
}

void Flowcon::decide_others(Rounds* rounds) {
  for (const Resource resource : parameters_.others) run_executor(resource, rounds);
}

HostDecision Flowcon::standings(const HostView& view) const {
  HostDecision decision;
  const auto standing_of = [this](const JobView& job) {
    const auto found = jobs_.find(job.id);
    return found == jobs_.end() ? Standing() : found->second.standing;
  };
  decision.jobs.reserve(view.jobs.size());
  for (const JobView& job : view.jobs) decision.jobs.push_back(standing_of(job));
  for (const JobView& job : view.watched) decision.watched.push_back(standing_of(job));
  return decision;
}

HostDecision Flowcon::decide(const HostView& view, Rounds* rounds) {
  measure(view);
  // The lists and the interval are those of CPU; memory and I/O have their own growth.
  const ExecutorDecision decided = run_executor(Resource::cpu, rounds);
  interval_ = decided.interval;
  all_completing_ = decided.all_completing;
  decide_others(rounds);
  HostDecision decision = standings(view);
  decision.next = interval_;
  return decision;
}

std::string Flowcon::reason(const std::string& id) const {
  if (all_completing_) return "all have converged: free competition";
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return "";
  const Share& cpu = found->second.standing.cpu;
  const std::optional<double> growth = cpu.growth_for_decision();
  const std::string list = name(cpu.list);
  if (!growth) return list + ": growth not measured";
  return list + ": growth " + percent(*growth) + "/s is " +
         (*growth < parameters_.alpha ? "under" : "at least") + " alpha " +
         percent(parameters_.alpha);
}

}  // namespace flowcon::ctrl::policy
