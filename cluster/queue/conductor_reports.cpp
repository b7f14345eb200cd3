// SPDX-License-Identifier: Apache-2.0
// What a host tells the coordinator.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "cluster/queue/conductor.h"
#include "cluster/queue/group.h"
#include "cluster/queue/groups.h"
#include "cluster/queue/pause.h"

namespace flowcon::cluster::queue {
namespace {

constexpr double kLeastCores = 0.05;
constexpr double kMostLeft = 1e12;  // seconds; peers are told no more
constexpr double kMoment = 30;      // seconds in which a worker that is stopped has gone
constexpr double kWeighing = 60;    // seconds in which a job is to be weighed
constexpr double kHearing = 60;     // seconds from the start in which hosts tell what they have
constexpr int kMostEstimates = 50;  // at a decision; each takes up to a millisecond

// A group that is over but for tasks, such as its servers, which are being stopped and have their
// room until then.
bool is_going(const Job& job) {
  if (!job.entry.group || job.entry.state != JobState::returning) return false;
  const std::vector<JobEntry>& tasks = job.entry.group->tasks;
  return std::any_of(tasks.begin(), tasks.end(), is_present);
}

// Where it has its room, or is about to; `own`: id of this host. What is not asked for yet
// elsewhere has an id that no birth has.
std::vector<HeldPlace> held_places(const JobEntry& entry, const std::string& own) {
  if (!entry.group) {
    if (!entry.task) return {{TaskPlace{own, 1, 0}, ""}};
    return {{TaskPlace{entry.task->host, 1, 0}, entry.task->birth}};
  }
  std::vector<HeldPlace> places;
  for (const JobEntry& task : entry.group->tasks) {
    if (!is_present(task)) continue;
    HeldPlace place{{task.at, task.is_ps ? 0 : 1, task.is_ps ? 1 : 0}, ""};
    if (task.task) place.birth = task.task->birth;
    if (!task.task && !task.at.empty()) place.birth = entry.id.substr(0, 32);
    if (place.host.empty()) place.host = own;
    places.push_back(std::move(place));
  }
  return places;
}

bool asks_gpus(const Job& job) {
  return job.ticket &&
         (!job.ticket->gpus.is_none() || job.ticket->labels.gpu || job.entry.chosen.gpu);
}

// Will the room of workers that are to go, or of all, be free in a moment? Not of one whose host is
// silent.
bool is_leaving(const JobEntry& entry, double now) {
  // The clock may have been set back.
  const auto is_lately = [now](double since) { return now >= since && now - since < kMoment; };
  if (entry.state == JobState::parking) return is_lately(entry.since);
  const std::vector<JobEntry>& tasks = entry.group->tasks;
  return std::any_of(tasks.begin(), tasks.end(), [&](const JobEntry& task) {
    const bool is_ending = task.state == JobState::stopping && is_lately(task.since);
    return task.has_left && (task.state == JobState::running || is_ending);
  });
}

// Of one that runs. A group has so many tasks with those that have left.
std::int64_t most_workers(const Group& group, std::int64_t most, double now) {
  const auto used = static_cast<std::int64_t>(group.tasks.size());
  const std::int64_t more = has_just_failed(group, now) ? 0 : kMostTasks - used;
  return std::min(most, present(group, false) + more);
}

}  // namespace

// The workers of a group go on together: what is left of the first one is left of all.
std::optional<double> Conductor::left(const Job& job) const {
  const JobPtr leader = job.entry.group ? leader_of(owner_.jobs(), job) : nullptr;
  const auto forecast = world_.host.forecast(leader ? leader->entry.id : job.entry.id);
  std::optional<double> measured;
  if (job.entry.state == JobState::running) {
    measured = job.pace.left(job.entry.group ? present(*job.entry.group, false) : 1);
  }
  if (job.entry.group && measured) return measured;
  const Request& asked = job.entry.group ? job.worker_request : job.request;
  const double cores = std::max(kLeastCores, asked.cpu.value);
  // It has the cores that it asked for: where it takes longer it waits for a GPU or a disk.
  const auto longer = [&](double work, const std::optional<double>& width) {
    return std::max(work / std::min(cores, width.value_or(cores)), measured.value_or(0));
  };
  if (forecast) return longer(forecast->left, forecast->width);
  // Of one that waits again its run knew more than earlier ones do.
  const Job& seen = leader && leader->left_seen ? *leader : job;
  if (seen.left_seen) return longer(*seen.left_seen, seen.width_seen);
  double total = 0;
  for (const char* label : {"seconds_launch", "seconds_train", "seconds_save"}) {
    const std::optional<double> part = job.estimate(label).expected;
    if (!part && std::string(label) == "seconds_train") return std::nullopt;
    total += part.value_or(0);
  }
  const double rest = total - served(job.entry, world_.clock.wall());
  return rest > 0 ? std::optional(std::min(rest, kMostLeft)) : std::nullopt;
}

// Kept for when it waits again.
void Conductor::note_left(Job& job) const {
  const JobPtr leader = job.entry.group ? leader_of(owner_.jobs(), job) : nullptr;
  if (const auto forecast = world_.host.forecast(leader ? leader->entry.id : job.entry.id)) {
    job.left_seen = forecast->left;
    job.width_seen = forecast->width;
  } else if (leader && leader->left_seen) {
    job.left_seen = leader->left_seen;
    job.width_seen = leader->width_seen;
  }
}

// The counter, of a group that of its first worker while all of them run.
void Conductor::note_pace(Job& job) const {
  const JobPtr leader = job.entry.group ? leader_of(owner_.jobs(), job) : nullptr;
  const Job* first = job.entry.group ? leader.get() : &job;
  std::int64_t workers = 1;
  bool all_run = job.entry.state == JobState::running;
  if (job.entry.group) {
    const std::vector<JobEntry>& tasks = job.entry.group->tasks;
    const auto is_worker = [](const JobEntry& task) { return !task.is_ps && is_present(task); };
    workers = std::count_if(tasks.begin(), tasks.end(), is_worker);
    all_run = all_run && std::all_of(tasks.begin(), tasks.end(), [&](const JobEntry& task) {
                return !is_worker(task) || task.state == JobState::running;
              });
  }
  if (!first || !all_run) return job.pace.rest();
  std::optional<double> done = first->done_seen;
  if (const auto forecast = world_.host.forecast(first->entry.id)) done = forecast->done;
  if (done) job.pace.see(world_.clock.steady(), workers, *done);
}

// Between hosts its tasks need a network; one that runs has it, or not.
Span Conductor::span_of(const Job& group) const {
  const bool has_tasks = !group.entry.group->tasks.empty();
  const std::string network =
      has_tasks ? group.entry.group->network : network_of(group, world_.host.config());
  if (network == kHostNetwork) return Span::host;
  if (network == kPublished) return Span::ports;
  return network.empty() || cargo_.swarm().empty() ? Span::none : Span::overlay;
}

// Of a group: its tasks together, one worker's request in `reported`.
void Conductor::report_group(Job& job, bool runs, ReportedJob& reported) const {
  note_pace(job);
  const double now = world_.clock.wall();
  const Group& group = *job.entry.group;
  ctrl::WorkerRange range = workers_of(job.entry);
  // Whatever a person wants: the next one would fail as well.
  const std::int64_t there = std::max<std::int64_t>(present(group, false), 1);
  if (runs && has_just_failed(group, now)) range.least = std::min(range.least, there);
  if (runs) range.most = std::max(range.least, most_workers(group, range.most, now));
  reported.task.workers = runs ? there : range.least;
  reported.task.ps = runs ? present(group, true) : group.ps;
  reported.task.ps_request = job.ps_request.amounts();
  const Span span = span_of(job);
  reported.task.may_spread = span != Span::none;
  const bool begins = runs && job.entry.state < JobState::running;  // and is not resized yet
  const bool stays = begins || is_going(job) || is_finishing(group);
  // Where no swarm is known it may run on one host, or the engine there says what is wrong.
  const bool needs_network = span != Span::none && is_bound(job, world_.host.config());
  reported.group = GroupShape{range,
                              stays ? ctrl::Elastic::no : group.elastic,
                              span,
                              needs_network,
                              is_leaving(job.entry, now),
                              job.pace.open(),
                              job.pace.paces(),
                              job.estimate("net").expected};
}

// Of one that waits: what it needs to go elsewhere, or to begin early.
void Conductor::report_waiting(Job& job, ReportedJob& reported) const {
  const double steady = world_.clock.steady();
  if (job.entry.task) reported.sent_to = job.entry.task->host;
  // Of a group only what binds all of it to its host: no part of it need go anywhere else.
  if (!job.entry.group || (job.freight && !job.freight->bound.empty())) {
    reported.freight = job.freight;
  }
  if (reported.freight) reported.freight->image = short_image(reported.freight->image);
  const bool is_unknown = !job.freight && job.weigh_at == 0 && !job.entry.task;
  if (is_unknown && job.weigh_by == 0) job.weigh_by = steady + kWeighing;
  reported.is_weighing = is_unknown && steady < job.weigh_by;
  const bool is_there = (!job.entry.task || job.is_ready) && steady >= job.not_early_before;
  const bool has_gpu =
      (job.ticket && job.ticket->has_gpu) || job.estimate("gpu_mem").expected.has_value();
  if (!job.entry.group && is_there && !has_gpu) {
    reported.launch = job.estimate("seconds_launch").upper.value_or(0);
  }
}

ReportedJob Conductor::report_job(Job& job, double pause) const {
  const double now = world_.clock.wall(), steady = world_.clock.steady();
  const JobEntry& entry = job.entry;
  const bool goes = is_going(job);
  const bool runs = goes || holds_room(job);
  ReportedJob reported;
  reported.task.id = entry.id;
  reported.task.since = std::max(0.0, now - entry.submitted);
  reported.task.waited = waited(entry, now);
  reported.task.served = served(entry, now);
  reported.task.left = left(job);
  note_left(job);
  reported.task.priority = priority_of(job);
  reported.task.weight = entry.weight;
  reported.task.is_starved = entry.is_starved;
  reported.task.request = (entry.group ? job.worker_request : job.request).amounts();
  reported.task.is_parkable = world_.host.config().queue.park && may_be_parked(job, now, pause);
  if (entry.group) report_group(job, runs, reported);
  reported.version = entry.version;
  if (runs) reported.places = held_places(entry, world_.network.own_id());
  if (!runs) report_waiting(job, reported);
  reported.is_parking = entry.state == JobState::parking ||
                        (goes && now >= entry.since && now - entry.since < kMoment);
  const std::string& own = world_.network.own_id();
  // There are enough GPUs here, and docker would give it others, which are taken.
  const bool is_home_taken = !runs && !room_.why_gpus_taken(job).empty() &&
                             fits({{"gpu", job.request.gpu.value}}, room_.room().free);
  if (is_home_taken) reported.avoided.push_back(own);
  for (const auto& [host, until] : job.avoided) {
    if (until > steady && !(is_home_taken && host == own)) reported.avoided.push_back(host);
  }
  return reported;
}

// A host that has not told yet what it has may have some, where nobody who has told has any.
bool Conductor::may_hear_of_gpus() const {
  const std::vector<Neighbour> all = world_.network.neighbours();
  return world_.clock.steady() < begun_ + kHearing &&
         std::any_of(all.begin(), all.end(), [](const Neighbour& one) { return !one.state; });
}

// A waiting job that has not been estimated yet would start with the default request: it is left
// out until it has been, which is soon.
void Conductor::report_jobs(HostJobs& report) {
  const double pause = report.pause.value_or(PauseMeter().seconds());
  const Offers offers = owner_.sizing().offers();
  const bool is_seeking_gpus =
      world_.host.view().is_seeking_gpus || (offers.largest.gpu <= 0 && may_hear_of_gpus());
  int estimates = kMostEstimates;
  bool is_late = false;
  for (const JobPtr& job : owner_.jobs().by_arrival()) {
    const bool runs = is_going(*job) || holds_room(*job);
    if (job->group || (!runs && !may_start(*job))) continue;
    if (owner_.sizing().size(*job, estimates > 0, offers) && !job->estimates.empty()) --estimates;
    const bool is_unknown =
        !runs && (job->estimated_by == 0 || (is_seeking_gpus && asks_gpus(*job)));
    is_late = is_late || is_unknown;
    if (!is_unknown) report.jobs.push_back(report_job(*job, pause));
  }
  if (is_late) wake();
}

HostJobs Conductor::report() {
  const Offer offer = owner_.sizing().offer();
  HostJobs report;
  report.is_draining = world_.network.is_draining();
  report.id = world_.network.own_id();
  report.name = world_.host.view().name;
  report.offer = offer.amounts();
  policy::Amounts none = report.offer;
  for (auto& [kind, amount] : none) amount = 0;
  const bool gives_room = !report.is_draining && owner_.hears_engine();
  const HostRoom::Room room = gives_room ? room_.room() : HostRoom::Room{none, none};
  report.free = room.free;
  report.most = room.most;
  report.takes_early = gives_room && room_.takes_early();
  report.has_early = room_.has_early();
  report.totals = owner_.jobs().totals();
  report.pause = owner_.jobs().pause();
  for (const auto& [id, task] : tasks_.held()) {
    report.owners[task->birth] = task->owner;
    if (task->copy == TicketCopy::ended) report.births.insert(task->birth);
  }
  for (const Tasks::Resident& task : tasks_.residents()) {
    report.owners[task.birth] = task.owner;
    report.births.insert(task.birth);
  }
  report.images = cargo_.images();
  report.shared = cargo_.shared();
  report.rates = cargo_.rates();
  report.swarm = cargo_.swarm();
  report.architecture = cargo_.architecture();
  report.accepts_gpus = world_.host.config().accept.has_gpus();
  report.is_open = leases_.is_open();
  report.has_address = leases_.has_address();
  report_jobs(report);
  // A peer is not told of all where there are very many.
  const auto rank = [](const ReportedJob& job) {
    return std::make_tuple(job.places.empty(), !job.task.is_starved, -job.task.since);
  };
  std::stable_sort(report.jobs.begin(), report.jobs.end(),
                   [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return report;
}

}  // namespace flowcon::cluster::queue
