// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/jobs.h"

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "cluster/policy/report.h"
#include "cluster/queue/pause.h"

namespace flowcon::cluster::queue {

ctrl::estimate::LabelEstimate Job::estimate(std::string_view label) const {
  for (const ctrl::estimate::LabelEstimate& one : estimates) {
    if (one.label == label) return one;
  }
  return {};
}

void Jobs::add(const JobPtr& job) {
  if (is_closed(job->entry.state)) {
    ended_.push_back(job);
  } else {
    open_[job->entry.id] = job;
  }
}

void Jobs::close(const JobPtr& job) {
  open_.erase(job->entry.id);
  if (job->group) return;
  ended_.insert(ended_.begin(), job);
  if (ended_.size() > kKeptJobs) ended_.pop_back();
}

JobPtr Jobs::find_id(const std::string& id) const {
  if (const auto found = open_.find(id); found != open_.end()) return found->second;
  const auto has_id = [&id](const JobPtr& job) { return job->entry.id == id; };
  const auto found = std::find_if(ended_.begin(), ended_.end(), has_id);
  return found == ended_.end() ? nullptr : *found;
}

Result<JobPtr> Jobs::find(const std::string& name) const {
  std::vector<JobPtr> beginning;
  const auto look = [&](const JobPtr& job) {
    if (job->entry.name == name || job->entry.id == name) return true;
    if (!name.empty() && job->entry.id.starts_with(name)) beginning.push_back(job);
    return false;
  };
  for (const auto& [id, job] : open_) {
    if (look(job)) return job;
  }
  for (const JobPtr& job : ended_) {
    if (look(job)) return job;
  }
  if (beginning.size() == 1) return beginning.front();
  const std::string shown = printable(name, 80);
  const std::string none = "No such job: " + shown;
  if (beginning.empty()) {
    return errno_error(ENOENT, none + " (docker flowcon queue --all lists them)");
  }
  return errno_error(
      ENOENT, none + " (the ids of " + std::to_string(beginning.size()) + " jobs begin with it)");
}

std::vector<double> Jobs::totals() const {
  std::vector<double> totals;
  for (const JobPtr& job : ended_) {
    if (job->entry.state == JobState::done) totals.push_back(job->entry.served);
  }
  return totals;
}

std::optional<double> Jobs::pause() const {
  if (open_.empty() && ended_.empty()) return std::nullopt;
  PauseMeter meter;
  std::vector<double> launches;
  for (const auto& [id, job] : open_) {
    meter.add(job->entry.steps);
    if (const auto launch = job->estimate("seconds_launch").expected) launches.push_back(*launch);
  }
  for (const JobPtr& job : ended_) meter.add(job->entry.steps);
  return meter.seconds() + policy::median(std::move(launches)).value_or(0);
}

}  // namespace flowcon::cluster::queue
