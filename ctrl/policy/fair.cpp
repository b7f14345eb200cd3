// SPDX-License-Identifier: Apache-2.0
#include "ctrl/policy/fair.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flowcon::ctrl::policy {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr double kSame = 1e-9;  // share of the work that rounding may leave over
constexpr double kNews = 0.02;  // share; expectations that change by less change no end
// Share of the cores that is there at least: a host that others have wholly is so for a while only.
constexpr double kLeastThere = 0.01;

bool is_news(double now, double before) { return !(std::fabs(now - before) <= kNews * before); }

// The same share for each, none above its width; what one leaves goes to the others. `jobs` by
// width, the narrowest first.
void divide(const std::vector<FairJob*>& jobs, double cores, std::vector<double>& rates) {
  rates.resize(jobs.size());
  double left = cores;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    rates[i] = std::min(jobs[i]->width, left / static_cast<double>(jobs.size() - i));
    left -= rates[i];
  }
}

// All go on from `now` to `until`, at most; who is through ends.
void go_on(std::map<std::string, FairJob>& all, double cores, double now, double until) {
  std::vector<FairJob*> running;
  for (auto& [id, job] : all) {
    if (!job.ended) running.push_back(&job);
  }
  std::stable_sort(running.begin(), running.end(),
                   [](const FairJob* a, const FairJob* b) { return a->width < b->width; });
  std::vector<double> rates;
  while (!running.empty() && now < until) {
    divide(running, cores, rates);
    double step = until - now;
    for (std::size_t i = 0; i < running.size(); ++i) {
      const double left = std::max(0.0, running[i]->total - running[i]->used);
      if (rates[i] > 0) step = std::min(step, left / rates[i]);
    }
    now += step;
    for (std::size_t i = 0; i < running.size(); ++i) {
      FairJob& job = *running[i];
      job.used += rates[i] * step;
      if (job.used >= job.total * (1 - kSame)) job.ended = now;
    }
    std::erase_if(running, [](const FairJob* job) { return job->ended.has_value(); });
  }
}

}  // namespace

void FairWorld::add(const std::string& id, double used) {
  FairJob job;
  job.used = used;
  job.total = kForever;
  job.width = cores_;
  jobs_[id] = job;
  is_stale_ = true;
}

double FairWorld::used(const std::string& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? 0 : found->second.used;
}

void FairWorld::end(const std::string& id, double used) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  is_stale_ = true;
  found->second.is_gone = true;
  found->second.total = used;
  if (found->second.ended) jobs_.erase(found);
}

void FairWorld::expect(const std::string& id, double total, double width) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || found->second.is_gone) return;
  // It was thought to be through, and is not.
  if (found->second.ended && total > found->second.used * (1 + 1e-6)) found->second.ended.reset();
  FairJob& job = found->second;
  job.total = std::isnan(total) ? kForever : total;
  job.width = std::clamp(width, 1e-6, cores_);
  if (is_news(job.total, job.told_total) || is_news(job.width, job.told_width)) is_stale_ = true;
}

void FairWorld::set_cores_there(double cores) {
  there_ = std::clamp(cores, kLeastThere * cores_, cores_);
  if (is_news(there_, told_there_)) is_stale_ = true;
}

void FairWorld::advance(double now) {
  go_on(jobs_, there_, now_, now);
  now_ = std::max(now_, now);
  std::erase_if(jobs_, [](const auto& job) { return job.second.is_gone && job.second.ended; });
}

const std::map<std::string, double>& FairWorld::ends() {
  if (!is_stale_) return ends_;
  is_stale_ = false;
  told_there_ = there_;
  for (auto& [id, job] : jobs_) {
    job.told_total = job.total;
    job.told_width = job.width;
  }
  std::map<std::string, FairJob> all = jobs_;
  std::erase_if(all, [](const auto& job) { return !(job.second.total < kForever); });
  go_on(all, there_, now_, kForever);
  ends_.clear();
  for (const auto& [id, job] : all) {
    if (!job.is_gone && job.ended) ends_[id] = *job.ended;
  }
  return ends_;
}

}  // namespace flowcon::ctrl::policy
