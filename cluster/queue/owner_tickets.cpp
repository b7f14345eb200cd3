// SPDX-License-Identifier: Apache-2.0
// How a container becomes a job, and what is done when that of an ended one is changed.
#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cluster/migration/plan/group_parts.h"
#include "cluster/queue/job_json.h"
#include "cluster/queue/owner.h"
#include "ctrl/log.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster::queue {
namespace {

using migration::Copy;
using migration::Seen;

constexpr std::size_t kShownCommand = 512;
constexpr double kFullLook = 60;  // seconds until one that is too many is looked at again
constexpr const char* kAdvice = "docker rm it and submit it with a smaller --request";

// Of a container that waits to become a job.
JobEntry new_entry(const Ticket& ticket, double now) {
  JobEntry entry;
  entry.id = ticket.id;
  entry.name = valid_utf8(ticket.name);
  entry.image = ticket.command.image;
  entry.command = valid_utf8(ticket.command.command.substr(0, kShownCommand));
  entry.retries = ticket.labels.retries;
  entry.is_held = ticket.labels.is_held;
  entry.submitted = entry.since = now;
  entry.version = 1;
  if (ticket.labels.workers.most > 1 || ticket.labels.ps > 0) {
    entry.group = Group();
    entry.group->workers = ticket.labels.workers;
    entry.group->ps = ticket.labels.ps;
    entry.group->elastic = ticket.labels.elastic;
  }
  if (!ticket.refusal.empty()) {
    entry.state = JobState::refused;
    entry.note = ticket.refusal;
  }
  entry.steps.push_back({entry.state, now, entry.note});
  return entry;
}

// The containers of a group's last attempt.
std::vector<std::string> tasks_of(const JobEntry& entry) {
  std::vector<std::string> ids;
  if (!entry.group) return ids;
  for (const JobEntry& task : entry.group->tasks) {
    if (!task.id.empty()) ids.push_back(task.id);
  }
  return ids;
}

}  // namespace

// Those that were created while nobody listened; all open jobs are looked at again.
Async<void> Owner::list_tickets() {
  // What is driven may close at once.
  const std::map<std::string, JobPtr> open = jobs_.open();
  const std::vector<JobPtr> ended = jobs_.ended();
  for (const auto& [id, job] : open) wake(job);
  const Result<std::vector<ctrl::engine::Listed>> all = co_await world_.engine.list();
  if (world_.is_ended) co_return;
  list_at_ = all ? 0 : world_.clock.steady() + kRetry;
  if (!all) {
    ctrl::log::warning("looking for jobs of the queue: " + all.error().message());
    co_return;
  }
  if (listed_at_ == 0) listed_at_ = world_.clock.steady();
  std::set<std::string> there;
  for (const ctrl::engine::Listed& one : *all) {
    there.insert(one.id);
    if (one.state != "created" || !one.labels.contains("flowcon.queue")) continue;
    co_await enlist(one.id, true);
  }
  for (const JobPtr& job : ended) {
    // The tasks of a group stay: nobody has heard who removed its ticket, and when.
    if (!there.contains(job->entry.id)) co_await clear_ended(job, {});
  }
  std::vector<std::string> kept(there.begin(), there.end());
  const Result<void> forgotten = co_await world_.rows.forget(kKeptJobs, std::move(kept));
  if (!forgotten) ctrl::log::debug(forgotten.error().message());
}

void Owner::hear_of_other(const ctrl::engine::EngineEvent& event) {
  const std::string what = "ticket " + event.id.substr(0, 12);
  if (event.action == "create") {
    const bool is_found = static_cast<double>(event.time_ns) < begun_ * 1e9;
    ctrl::spawn(world_.host.io(), what, enlist(event.id, is_found));
  } else if (event.action == "destroy") {
    ctrl::spawn(world_.host.io(), what, clear_forgotten(event.id));
  }
}

void Owner::hear_of_ended(const JobPtr& job, const ctrl::engine::EngineEvent& event) {
  const std::string what = "ended job " + job->entry.id.substr(0, 12);
  if (event.action == "destroy") {
    ctrl::spawn(world_.host.io(), what, clear_ended(job, tasks_of(job->entry)));
  } else if (event.action == "rename" && !event.name.empty()) {
    job->entry.name = valid_utf8(event.name);
    ctrl::spawn(world_.host.io(), what, rename(job, job->entry.name));
  }
}

// To find one takes long, and most are none.
Async<void> Owner::clear_forgotten(std::string id) {
  const Result<bool> was_job = co_await world_.rows.has(id);
  if (world_.is_ended || !was_job || !*was_job) co_return;
  const auto row = co_await world_.rows.find(id);
  if (world_.is_ended || !row || !*row || (*row)->id != id) co_return;
  const Result<JobEntry> entry = parse_entry((*row)->entry);
  if (!entry || !entry->group) co_return;
  co_await clear_ended(std::make_shared<Job>(world_.host.io(), *entry), tasks_of(*entry));
}

Async<void> Owner::clear_ended(JobPtr job, std::vector<std::string> tasks) {
  if (job->entry.state == JobState::refused) {
    jobs_.forget(job);
    const Result<void> dropped = co_await world_.rows.drop(job->entry.id);
    if (!dropped) ctrl::log::debug(dropped.error().message());
  }
  for (const std::string& id : tasks) {
    const Result<Seen> seen = co_await world_.engine.look(id);
    // One that a person has started again is theirs, also where that was a moment ago.
    if (world_.is_ended || !seen || seen->copy == Copy::running) continue;
    const Result<void> removed = co_await world_.engine.remove_ended(id);
    if (!removed) ctrl::log::warning(removed.error().message());
  }
}

Async<Result<void>> Owner::amend(JobPtr job, Change change) {
  const auto guard = co_await writing_of(job).lock();
  Result<JobEntry> next = change(job->entry, world_.clock.wall());
  if (!next) co_return next.error();
  co_return co_await write(job, std::move(*next));
}

Async<void> Owner::rename(JobPtr job, std::string name) {
  Change change = [name](const JobEntry& entry, double) -> Result<JobEntry> {
    JobEntry next = entry;
    next.name = name;
    return next;
  };
  const Result<void> written = co_await amend(std::move(job), std::move(change));
  if (!written) ctrl::log::debug(written.error().message());
}

Async<void> Owner::enlist(std::string id, bool is_found) {
  bool is_beyond = false;
  if (const auto known = unseen_.extract(id)) {
    is_found = is_found && known.mapped().is_found;
    is_beyond = known.mapped().is_beyond;
  }
  if (!is_read_ || jobs_.find_id(id)) co_return;
  Result<Seen> seen = co_await world_.engine.look(id);
  const bool is_unknown = !seen && !is_absent(seen.error());
  if (is_unknown) unseen_[id] = {world_.clock.steady() + kRetry, is_found, is_beyond};
  if (seen) co_await groups_.drop_late(*seen);
  // A copy that another host made is that host's to start, a group's task the group's.
  if (!seen || seen->copy != Copy::created || !seen->labels.contains("flowcon.queue") ||
      seen->labels.contains(ctrl::kMovedLabel) || seen->labels.contains(migration::kGroupLabel)) {
    co_return;
  }
  Seen whole = std::move(*seen);
  seen =
      co_await world_.engine.with_own_labels(world_.host.config().image_labels, std::move(whole));
  // The ticket of one that ended long ago may be as it was created.
  const Result<bool> was_job = co_await world_.rows.has(id);
  if (was_job && *was_job) co_return;
  if (!seen || !was_job) {
    unseen_[id] = {world_.clock.steady() + kRetry, is_found, is_beyond};
    co_return;
  }
  Result<Ticket> ticket = parse_ticket(seen->inspect);
  if (!ticket || world_.is_ended || jobs_.find_id(id)) co_return;
  if (!ticket->labels.is_job && ticket->labels.wrong_queue.empty()) co_return;
  const bool is_full = jobs_.open().size() >= world_.most_jobs && jobs_.count() >= world_.most_jobs;
  if (is_full) {
    unseen_[id] = {world_.clock.steady() + kFullLook, is_found, true};
    if (is_beyond) co_return;
    world_.host.warn("container " + printable(ticket->name, 80) + " is no job of the queue yet: " +
                     std::to_string(world_.most_jobs) + " jobs wait already; remove some");
    co_return;
  }
  JobEntry entry = new_entry(*ticket, world_.clock.wall());
  if (is_lost_ && is_found && entry.state == JobState::waiting) {
    entry.is_held = true;
    entry.note =
        "this host's journal has lost entries, and it may have run elsewhere: see there, then "
        "release it";
    entry.steps.back().note = entry.note;
  }
  auto job = std::make_shared<Job>(world_.host.io(), entry);
  job->ticket = std::move(*ticket);
  job->copy = TicketCopy::created;
  sizing_.size(*job);
  const std::string hopeless = sizing_.why_hopeless(*job, kAdvice);
  if (entry.state == JobState::waiting && !hopeless.empty()) {
    entry.state = JobState::refused;
    entry.note = hopeless;
    entry.steps.back() = {entry.state, entry.since, entry.note};
    job->entry = entry;
  }
  if (is_closed(job->entry.state)) {
    jobs_.close(job);
  } else {
    jobs_.add(job);
  }
  const Result<void> written = co_await write(job, std::move(entry));
  if (!written) job->trouble = written.error().message();
  tell(*job);
  changed_(*job);
}

std::vector<std::string> Owner::hear_news(const std::vector<std::string>& births,
                                          const std::string& speaker) {
  std::vector<std::string> unknown;
  // One of them may be of a job whose entry cannot be read.
  if (!is_whole_) return unknown;
  for (const std::string& birth : births) {
    const auto& open = jobs_.open();
    const auto found = std::find_if(open.begin(), open.end(), [&](const auto& one) {
      const std::optional<Task>& task = one.second->entry.task;
      return task && task->birth == birth && task->host == speaker;
    });
    if (found == open.end()) {
      unknown.push_back(birth);
    } else {
      wake(found->second);
    }
  }
  return unknown;
}

void Owner::hear_of_move(const std::string& id) {
  for (const auto& [container, job] : jobs_.open()) {
    const std::optional<Task>& task = job->entry.task;
    if (!task || (task->birth != id && task->back != id)) continue;
    const JobPtr whose = job;
    return wake(whose);
  }
}

}  // namespace flowcon::cluster::queue
