// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/owner.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/queue/job_json.h"
#include "ctrl/effects.h"
#include "ctrl/log.h"
#include "ctrl/spawn.h"
#include "ctrl/store/store.h"

namespace flowcon::cluster::queue {
namespace {

using migration::Copy;
using migration::Seen;

constexpr double kOrphanTime = 30;  // seconds in which an engine ends what nobody waits for
constexpr double kTold = 1;         // seconds until its engine has told how one ended
constexpr double kMoveLook = 0.5;   // seconds between two looks at a task that is on its way
constexpr double kTaskLook = 10;    // and at one that runs: its host tells what is new

TicketCopy copy_of(const Result<Seen>& seen) {
  if (!seen) return is_absent(seen) ? TicketCopy::absent : TicketCopy::unknown;
  switch (seen->copy) {
    case Copy::created:
      return TicketCopy::created;
    case Copy::running:
      return TicketCopy::running;
    case Copy::stopped:
    case Copy::finished:
    case Copy::failed:
      return TicketCopy::ended;
    default:
      return TicketCopy::unknown;
  }
}

// The group's entry with this one of a task in it; who has left is the group's to say. Where one
// that is over listened another one may.
JobEntry with_task(const JobEntry& group, const JobEntry& task) {
  JobEntry next = group;
  for (JobEntry& one : next.group->tasks) {
    if (one.id != task.id) continue;
    const bool has_left = std::exchange(one, task).has_left;
    one.has_left = has_left;
    if (is_closed(task.state) && task.endpoint) owe(*next.group, task.at, {*task.endpoint});
  }
  return next;
}

// Does a task of its group run here, with the volumes that this one's are to replace? Of the first
// one alone they come home.
bool has_volumes_in_use(const Job& task) {
  if (!task.group || !task.group->ticket || !task.group->ticket->has_volumes) return false;
  const std::vector<JobEntry>& tasks = task.group->entry.group->tasks;
  if (tasks.empty() || tasks.front().id != task.entry.id) return false;
  return std::any_of(tasks.begin(), tasks.end(), [](const JobEntry& one) {
    return one.at.empty() && !is_closed(one.state) && one.state != JobState::waiting;
  });
}

// What is wrong with a task's host is its group's trouble, too, as long as it lasts.
void share_trouble(const Job& task) {
  if (!task.group) return;
  const std::string own = task.entry.name + ": ";
  std::string& shown = task.group->trouble;
  if (!task.trouble.empty()) {
    shown = own + task.trouble;
  } else if (shown.starts_with(own)) {
    shown.clear();
  }
}

// Its room may be another's by the time that it can be started. A task's order is its group's.
void forget_order(Job& job) {
  if (!job.group) job.order.reset();
}

// What came with it was recorded while it ran.
void end_record(World& world, const JobEntry& home, double ended) {
  const bool is_queued = world.host.effects().try_post(
      [store = &world.host.store(), id = home.id, ended, status = home.status] {
        const Result<void> written = store->end_run(id, ended, status);
        if (!written) ctrl::log::debug(written.error().message());
      });
  if (!is_queued) ctrl::log::debug("the end of a run is not recorded: the disk is slow");
}

}  // namespace

Owner::Owner(World& world, EngineWatch& watch, Leases& leases,
             std::function<void(const Job& job)> changed)
    : world_(world),
      watch_(watch),
      errands_(world),
      parking_(world),
      changed_(std::move(changed)),
      groups_(world, jobs_, leases, *this),
      sizing_(world, groups_) {
  watch_.join(*this);
}

// A journal that cannot be read says nothing of what may run: nothing is started then.
Async<void> Owner::begin() {
  const Result<std::vector<ctrl::store::QueueRow>> rows = co_await world_.rows.read(kKeptJobs);
  if (!rows) {
    const std::string trouble =
        "the queue waits: its journal cannot be read: " + rows.error().message();
    if (trouble != trouble_) world_.host.warn(trouble);
    trouble_ = trouble;
    read_at_ = world_.clock.steady() + kRetry;
    co_return;
  }
  trouble_.clear();
  begun_ = world_.clock.wall();
  is_lost_ = !world_.rows.is_whole();
  is_whole_ = !is_lost_;
  for (const ctrl::store::QueueRow& row : *rows) {
    Result<JobEntry> entry = parse_entry(row.entry);
    if (!entry) {
      is_whole_ = false;
      world_.host.warn(
          "job " + row.id.substr(0, 12) +
          " of the queue cannot be read and is left alone: " + entry.error().message());
      continue;
    }
    auto job = std::make_shared<Job>(world_.host.io(), std::move(*entry));
    // The process before may have asked for something just now.
    const bool is_between =
        job->entry.state != JobState::waiting && job->entry.state != JobState::running;
    if (is_between) job->quiet_from = kUnheard;
    jobs_.add(job);
    if (job->entry.group) groups_.adopt(job);
  }
  is_read_ = true;
  groups_.give_back_all();
}

Async<void> Owner::begin_again() {
  co_await begin();
  listed_at_ = 0;
  if (is_read_ && watch_.stream() != 0) connected();
}

bool Owner::is_ready() const {
  if (!is_read_ || listed_at_ == 0) return false;
  if (world_.clock.steady() - listed_at_ >= kLongestLook) return true;
  const auto is_known = [](const auto& one) {
    const Job& job = *one.second;
    const bool waits = job.entry.state == JobState::waiting && !job.group;
    return waits || job.ticket || job.copy == TicketCopy::absent;
  };
  return std::all_of(jobs_.open().begin(), jobs_.open().end(), is_known);
}

double Owner::wanted_since(double now) const {
  double since = now;
  for (const auto& [id, job] : jobs_.open()) {
    if (job->entry.state == JobState::waiting) continue;
    since = std::min({since, job->entry.since, start_of(job->entry.life).value_or(since)});
  }
  return since;
}

void Owner::connected() {
  groups_.tidy();
  ctrl::spawn(world_.host.io(), "tickets", list_tickets());
}

void Owner::lost() {
  for (const auto& [id, job] : jobs_.open()) {
    const bool ran = job->entry.state == JobState::running && !job->entry.task;
    job->watch.was_lost = job->watch.was_lost || ran;
    job->watch.is_watched = job->watch.was_stopped = job->watch.was_signalled = false;
  }
}

void Owner::hear(const ctrl::engine::EngineEvent& event) {
  const JobPtr job = jobs_.find_id(event.id);
  if (!job) return hear_of_other(event);
  if (is_closed(job->entry.state)) return hear_of_ended(job, event);
  // An engine tells again what was before, such as a request to save itself. The clock may have
  // been set back.
  const bool is_new = static_cast<double>(event.time_ns) >= job->entry.since * 1e9 ||
                      job->entry.since > world_.clock.wall();
  const bool ends = is_end(event, job->ticket ? &*job->ticket : nullptr);
  const bool is_signal = event.action == "kill" && is_new && !is_saving(job->entry);
  if (is_signal) job->watch.hear_signal(ends, watch_.remembers());
  if (event.action == "start") {
    job->watch.is_watched = true;
    job->watch.was_stopped = job->watch.was_signalled = false;
  }
  // One that saves itself is looked at only when it has ended.
  if (event.action == "rename" && !event.name.empty()) job->entry.name = valid_utf8(event.name);
  wake(job);
}

void Owner::wake(const JobPtr& job) {
  job->is_due = true;
  if (job->is_driven || world_.is_ended || is_closed(job->entry.state)) return;
  job->is_driven = true;
  ctrl::spawn(world_.host.io(), "job " + job->entry.id.substr(0, 12), drive(job));
}

void Owner::look() {
  if (world_.is_ended) return;
  const double now = world_.clock.steady();
  if (watch_.stream() != 0) deaf_since_ = 0;
  if (watch_.stream() == 0 && deaf_since_ == 0) deaf_since_ = now;
  if (!is_read_ && read_at_ > 0 && now >= read_at_) {
    read_at_ = 0;
    ctrl::spawn(world_.host.io(), "journal of the queue", begin_again());
  }
  if (!is_read_) return;
  std::vector<JobPtr> due;
  for (const auto& [id, job] : jobs_.open()) {
    if (const auto use = world_.host.use_of(id)) {
      job->watch.peak_memory = std::max(job->watch.peak_memory, use->memory);
    }
    if (job->retry_at > 0 && now >= job->retry_at) due.push_back(job);
  }
  for (const JobPtr& job : due) wake(job);
  if (list_at_ > 0 && now >= list_at_ && watch_.stream() != 0) {
    list_at_ = 0;
    connected();
  }
  std::vector<std::string> unseen;  // the list changes meanwhile
  for (auto& [id, one] : unseen_) {
    if (now < one.when) continue;
    one.when = now + kRetry;
    unseen.push_back(id);
  }
  for (const std::string& id : unseen) {
    ctrl::spawn(world_.host.io(), "ticket " + id.substr(0, 12), enlist(id, true));
  }
}

void Owner::give(const JobPtr& job, Order order) {
  job->order = order;
  wake(job);
}

Async<Result<void>> Owner::edit(JobPtr job, Change change) {
  const Result<void> written = co_await amend(job, std::move(change));
  if (!written) co_return written;
  sizing_.size(*job, false);
  wake(job);
  if (job->group) wake(job->group);
  changed_(*job);
  co_return Result<void>();
}

// What people and their programs are told.
void Owner::tell(const Job& job) {
  const JobEntry& entry = job.entry;
  ctrl::Event event;
  event.container = entry.name;
  event.id = entry.id;
  event.sentence = "job " + printable(entry.name, 80) + " is " + name(entry.state) +
                   (entry.note.empty() ? "" : ": " + printable(entry.note, 300));
  if (entry.state == JobState::running) {
    event.kind = ctrl::EventKind::job_started;
  } else if (is_closed(entry.state)) {
    event.kind = ctrl::EventKind::job_ended;
  } else if (entry.state == JobState::waiting) {
    event.kind = entry.has_saved ? ctrl::EventKind::job_parked : ctrl::EventKind::job_waits;
  } else {
    ctrl::log::debug(event.sentence);
    return;
  }
  ctrl::log::event(ctrl::log::MessageId::job_step, event.sentence, entry.id);
  world_.host.tell(std::move(event));
}

// ------------------------------------------------------------------------------- one job

// As the journal takes it: what cannot be written does not hold.
Async<Result<void>> Owner::write(JobPtr job, JobEntry entry) {
  JobEntry whole = job->group ? with_task(job->group->entry, entry) : entry;
  ctrl::store::QueueRow row{whole.id, render_entry(whole), whole.submitted, std::nullopt};
  if (is_closed(whole.state)) row.ended = whole.since;
  const Result<void> written = co_await world_.rows.save(std::move(row));
  job->is_unwritten = !written;
  if (!written) {
    job->retry_at = world_.clock.steady() + kRetry;
    // An error without a code would be one of what was asked (JobKeeper::edit).
    co_return written.error().code ? written.error() : errno_error(EIO, written.error().what);
  }
  if (job->group) job->group->entry.group = std::move(whole.group);
  job->entry = std::move(entry);
  if (is_closed(job->entry.state) && jobs_.open().contains(job->entry.id)) {
    jobs_.close(job);
    if (job->entry.group) groups_.tidy();
    if (job->group && job->entry.endpoint) groups_.give_back(job->entry.at);
    job->trouble.clear();
    share_trouble(*job);
  }
  co_return written;
}

Async<void> Owner::drive(JobPtr job) {
  while (!world_.is_ended && !is_closed(job->entry.state) && job->is_due) {
    job->is_due = false;
    job->retry_at = 0;
    const bool goes_on = co_await take_step(job);
    if (goes_on) job->is_due = true;
  }
  job->is_driven = false;
}

// Looks, has the next step written, and does it. True where it is to be looked at again at once.
Async<bool> Owner::take_step(JobPtr job) {
  Act act = Act::none;
  std::vector<GroupDeed> deeds;
  bool is_written = false, has_changed = false;
  {
    std::optional<JobFacts> seen = co_await facts(job);
    const auto guard = co_await writing_of(job).lock();
    if (!seen || is_closed(job->entry.state)) co_return false;
    Step step;
    if (job->entry.group) {
      GroupStep next = group_step(job->entry, groups_.facts(*job, *seen));
      step.entry = std::move(next.entry);
      deeds = std::move(next.deeds);
    } else {
      seen->may_start = group_lets_start(*job);
      step = next_step(job->entry, *seen);
    }
    act = step.act;
    is_written = step.entry.has_value();
    if (!is_written && std::exchange(job->is_unwritten, false)) changed_(*job);
    if (step.entry) {
      const JobEntry before = job->entry;
      JobEntry next = std::move(*step.entry);
      const Result<void> written = co_await write(job, std::move(next));
      if (!written) {
        forget_order(*job);
        job->trouble = written.error().message();
        co_return false;
      }
      has_changed = job->entry.state != before.state;
      if (before.state == JobState::waiting)
        job->begins_early = seen->order && seen->order->is_early;
      note_change(*job, before);
    }
  }
  if (has_changed) {
    if (!job->group) tell(*job);
    changed_(*job);
  }
  if (job->group && is_written) wake(job->group);
  if (job->entry.group) {
    job->host_shown = hosts_of(*job, world_.network);
    if (!deeds.empty()) co_return co_await groups_.carry_out(job, std::move(deeds));
    co_return is_written && !is_closed(job->entry.state);
  }
  if (act == Act::none) co_return has_changed && !is_closed(job->entry.state);
  co_return co_await carry_out(job, act);
}

// What this process knew of the step before.
void Owner::note_change(Job& job, const JobEntry& before) {
  jobs_.note_resize(job, before);
  job.order.reset();
  job.start_refusal.clear();
  job.may_start_later = false;
  job.save_failure.clear();
  job.has_saved = job.has_saved && job.entry.state == JobState::parking;
  job.was_told_to_stop = job.was_told_to_stop && job.entry.state == JobState::stopping;
  if (job.entry.state == JobState::running) job.times_refused = 0;
  job.trouble.clear();
  if (job.entry.state == JobState::waiting && before.state != JobState::waiting) {
    job.freight.reset();
    job.weigh_at = job.weigh_by = 0;
    // What saves nothing begins anew.
    if (!job.ticket || !job.ticket->saves_itself) job.left_seen.reset();
  }
  if (before.task && !job.entry.task) {
    if (before.state == JobState::returning) end_record(world_, job.entry, before.since);
    job.room_at.clear();
    job.host_shown.clear();
  }
}

Async<std::optional<JobFacts>> Owner::facts(JobPtr job) {
  const unsigned stream = watch_.stream();
  const bool is_quiet = world_.clock.steady() >= job->quiet_from;
  Result<Seen> seen = co_await world_.engine.look(job->entry.id);
  auto facts = std::make_shared<JobFacts>();
  facts->now = world_.clock.wall();
  const bool was_unknown = job->copy == TicketCopy::unknown;
  facts->copy = job->copy = copy_of(seen);
  if (facts->copy == TicketCopy::unknown) {
    forget_order(*job);
    if (!seen) job->trouble = seen.error().message();
    job->retry_at = world_.clock.steady() + kRetry;
    if (!is_quiet) job->quiet_from = kUnheard;
    co_return std::nullopt;
  }
  if (was_unknown) changed_(*job);  // it may be decided about again
  if (job->quiet_from == kUnheard) job->quiet_from = world_.clock.steady() + kOrphanTime;
  if (!is_quiet) job->retry_at = job->quiet_from;
  facts->is_quiet = is_quiet;
  facts->order = job->order;
  facts->start_refusal = job->start_refusal;
  facts->save_failure = job->save_failure;
  facts->has_saved = job->has_saved;
  if (job->request.cpu.source != Source::otherwise) facts->cores = job->request.cpu.value;
  if (seen && !job->ticket) {
    Seen whole = *seen;
    Result<Seen> own =
        co_await world_.engine.with_own_labels(world_.host.config().image_labels, std::move(whole));
    Result<Ticket> ticket = own ? parse_ticket(own->inspect) : own.error();
    if (!ticket) {
      job->trouble = ticket.error().message();
      job->retry_at = world_.clock.steady() + kRetry;
      co_return std::nullopt;
    }
    job->ticket = std::move(*ticket);
    if (job->ticket->hides_signal) job->watch.was_stopped = job->watch.was_signalled;
    sizing_.size(*job);
    changed_(*job);
  }
  facts->memory = std::max(job->watch.peak_memory, job->memory());
  if (seen && !add_life(*job, *facts, *seen, stream)) co_return std::nullopt;
  if (job->entry.task) co_await hear_of_task(job, facts);
  co_return std::move(*facts);
}

bool Owner::add_life(Job& job, JobFacts& facts, const Seen& seen, unsigned stream) const {
  job.entry.name = valid_utf8(seen.name);
  facts.life = seen.started;
  facts.status = seen.exit_code;
  facts.was_killed_for_memory = seen.was_killed_for_memory;
  facts.was_stopped = job.watch.was_stopped || job.was_told_to_stop;
  if (facts.copy == TicketCopy::running) watch_.note_running(job.watch, stream);
  // Whoever ends it from then on is a person.
  if (facts.copy == TicketCopy::running && !job.watch.is_watched) {
    job.retry_at = world_.clock.steady() + kTold;
  }
  const JobState state = job.entry.state;
  // One that is to be stopped may have ended long before.
  const bool is_stopping = state == JobState::stopping && job.group;
  const bool may_end = is_stopping || state == JobState::running ||
                       (state == JobState::parking && !is_saving(job.entry));
  if (facts.copy != TicketCopy::ended || !may_end || job.entry.task) return true;
  const double since =
      is_stopping ? start_of(facts.life).value_or(job.entry.since) : job.entry.since;
  const std::optional<bool> was_interrupted =
      watch_.was_interrupted(job.watch, stream, facts.status, job.ticket->saves_itself, since);
  if (!was_interrupted) {
    job.retry_at = world_.clock.steady() + kTold;
    return false;
  }
  facts.was_interrupted = *was_interrupted;
  return true;
}

bool Owner::hears_engine() const {
  return deaf_since_ == 0 || world_.clock.steady() - deaf_since_ < kDeaf;
}

Async<void> Owner::hear_of_task(JobPtr job, std::shared_ptr<JobFacts> facts) {
  const std::string birth = job->entry.task->birth;
  const Errands::Heard heard = co_await errands_.gather(job);
  if (!job->entry.task || job->entry.task->birth != birth) co_return;
  facts->task = heard.facts;
  // Its host forgets that when it starts again.
  facts->task.was_stopped = heard.facts.was_stopped || job->was_told_to_stop;
  const bool is_lasting = heard.facts.was_refused;
  if (heard.is_avoided && heard.facts.birth == Stage::undone) avoid(*job, is_lasting);
  facts->task.was_refused = is_lasting && !sizing_.may_run_here(*job);
  facts->task.has_room = job->room_at == birth;
  facts->task.is_awaited_here = has_volumes_in_use(*job);
  const bool was_ready = job->is_ready;
  job->is_ready = heard.facts.birth == Stage::ready && job->entry.state <= JobState::placing;
  if (job->group && job->is_ready != was_ready) wake(job->group);
  facts->save_failure = heard.save_failure;
  facts->has_saved = heard.has_saved;
  if (heard.left) job->left_seen = heard.left;
  if (heard.left) job->width_seen = heard.width;
  if (heard.done) job->done_seen = heard.done;
  job->host_shown = name_of_host(world_.network, job->entry.task->host);
  job->trouble = heard.trouble;
  share_trouble(*job);
  const bool is_running = heard.facts.birth == Stage::done && job->entry.task->back.empty();
  const bool is_waiting =
      heard.facts.birth == Stage::ready && job->entry.state == JobState::waiting;
  job->retry_at = world_.clock.steady() + (is_running || is_waiting ? kTaskLook : kMoveLook);
}

}  // namespace flowcon::cluster::queue
