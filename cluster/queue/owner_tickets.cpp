// SPDX-License-Identifier: Apache-2.0
// How a container becomes a job.
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <utility>
#include <vector>

#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/migration/plan/group_parts.h"
#include "cluster/queue/owner.h"
#include "ctrl/log.h"

namespace flowcon::cluster::queue {
namespace {

using migration::Copy;
using migration::Seen;

constexpr std::size_t kShownCommand = 512;

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

}  // namespace

// Those that were created while nobody listened; all open jobs are looked at again.
Async<void> Owner::list_tickets() {
  // What is driven may close at once.
  const std::map<std::string, JobPtr> open = jobs_.open();
  for (const auto& [id, job] : open) wake(job);
  const Result<boost::json::value> all = co_await world_.engine.list();
  if (world_.is_ended) co_return;
  list_at_ = all ? 0 : world_.clock.steady() + kRetry;
  if (!all) {
    ctrl::log::warning("looking for jobs of the queue: " + all.error().message());
    co_return;
  }
  if (listed_at_ == 0) listed_at_ = world_.clock.steady();
  std::vector<std::string> there;
  for (const boost::json::value& one : list_of(*all)) {
    there.push_back(text_of(one, "Id"));
    if (text_of(one, "State") != "created") continue;
    if (!object_of(one, "Labels").contains("flowcon.queue")) continue;
    co_await enlist(text_of(one, "Id"), true);
  }
  const Result<void> forgotten = co_await world_.rows.forget(kKeptJobs, std::move(there));
  if (!forgotten) ctrl::log::debug(forgotten.error().message());
}

Async<void> Owner::enlist(std::string id, bool is_found) {
  if (!is_read_ || jobs_.find_id(id)) co_return;
  Result<Seen> seen = co_await world_.engine.look(id);
  const bool is_unknown = !seen && !is_absent(seen.error());
  if (is_unknown) unseen_[id] = world_.clock.steady() + kRetry;
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
    unseen_[id] = world_.clock.steady() + kRetry;
    co_return;
  }
  Result<Ticket> ticket = parse_ticket(seen->inspect);
  if (!ticket || !ticket->labels.is_job || world_.is_ended || jobs_.find_id(id)) co_return;
  if (jobs_.open().size() >= kMostJobs) {
    world_.host.warn("container " + printable(ticket->name, 80) + " is no job of the queue: " +
                     std::to_string(kMostJobs) + " jobs wait already; remove some");
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
  size(*job);
  const std::string hopeless = why_hopeless(*job);
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

}  // namespace flowcon::cluster::queue
