// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/jobs.h"

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "cluster/policy/report.h"
#include "cluster/queue/group.h"
#include "cluster/queue/pause.h"

namespace flowcon::cluster::queue {

ctrl::estimate::LabelEstimate Job::estimate(std::string_view label) const {
  for (const ctrl::estimate::LabelEstimate& one : estimates) {
    if (one.label == label) return one;
  }
  return {};
}

double Job::memory() const {
  return std::max(request.mem.value, ticket ? ticket->docker_mem.value_or(0) : 0);
}

bool may_start(const Job& job) {
  return job.entry.state == JobState::waiting && !job.entry.is_held && job.ticket &&
         job.copy != TicketCopy::unknown && !job.is_unwritten;
}

bool is_elastic(const Job& job) {
  const bool runs = job.entry.group && job.entry.state == JobState::running;
  return runs && job.entry.group->elastic != ctrl::Elastic::no;
}

double priority_of(const Job& job) {
  return job.entry.chosen.priority.value_or(job.ticket ? job.ticket->labels.priority : 1);
}

bool may_be_parked(const Job& job, double now, double pause) {
  return job.entry.state == JobState::running && job.ticket && job.ticket->saves_itself &&
         !job.entry.is_unparkable && now - job.entry.since >= kStays * pause;
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

std::size_t Jobs::count() const {
  return static_cast<std::size_t>(std::count_if(
      open_.begin(), open_.end(), [](const auto& one) { return !one.second->group; }));
}

JobPtr Jobs::find_id(const std::string& id) const {
  if (const auto found = open_.find(id); found != open_.end()) return found->second;
  const auto has_id = [&id](const JobPtr& job) { return job->entry.id == id; };
  const auto found = std::find_if(ended_.begin(), ended_.end(), has_id);
  return found == ended_.end() ? nullptr : *found;
}

std::vector<JobPtr> Jobs::by_arrival() const {
  std::vector<JobPtr> all;
  for (const auto& [id, job] : open_) all.push_back(job);
  std::stable_sort(all.begin(), all.end(), [](const JobPtr& a, const JobPtr& b) {
    return a->entry.submitted < b->entry.submitted;
  });
  return all;
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

void Jobs::note_resize(const Job& job, const JobEntry& before) {
  if (!before.group || before.state != JobState::running || !job.order) return;
  const bool restarts = job.order->op == Order::Op::park && job.order->workers > 0 &&
                        job.entry.state == JobState::parking;
  const bool is_resized = job.order->op == Order::Op::resize &&
                          present(*before.group, false) != present(*job.entry.group, false);
  if (restarts || is_resized) ++resizes_;
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
