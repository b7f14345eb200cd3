// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/conductor.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "base/json.h"
#include "base/random_id.h"
#include "base/text.h"
#include "cluster/queue/group.h"
#include "cluster/queue/groups.h"
#include "cluster/queue/orders.h"
#include "cluster/queue/pause.h"
#include "ctrl/await.h"
#include "ctrl/effects.h"
#include "ctrl/log.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster::queue {
namespace {

using About = Decisions::About;
using ctrl::api::failure;
using ctrl::api::Response;

constexpr double kSoonest = 1;   // seconds between two decisions
constexpr double kAtLeast = 10;  // seconds: memory comes back and what is left changes, unannounced
constexpr double kReportTime = 5;  // seconds that a host has for its report
constexpr double kLeastCores = 0.05;
constexpr double kLongestAway = 600;
constexpr double kMostLeft = 1e12;  // seconds; peers are told no more
constexpr double kAway = 60;        // seconds, and a few pauses, in which one has started again
constexpr double kMoment = 30;      // seconds in which a worker that is stopped has gone
constexpr int kMostEstimates = 50;  // at a decision; each takes up to a millisecond
constexpr std::size_t kMostRecorded = 1 << 20;  // bytes of a decision's state

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

void Conductor::wake() {
  is_due_ = true;
  if (is_looking_soon_) return;
  is_looking_soon_ = true;
  ctrl::spawn(world_.host.io(), "conductor of the queue", look_soon());
}

Async<void> Conductor::look_soon() {
  while (!world_.is_ended && world_.clock.steady() < next_) {
    const double wait = next_ - world_.clock.steady();
    co_await world_.clock.pause(wait);
  }
  is_looking_soon_ = false;
  look();
}

// Are there other hosts to be asked?
bool Conductor::has_partners() const {
  const std::vector<Neighbour> all = world_.network.neighbours();
  return std::any_of(all.begin(), all.end(), [](const Neighbour& one) {
    return one.is_reachable && one.state && one.state->runs_jobs;
  });
}

void Conductor::look() {
  if (world_.is_ended || world_.history() == 0 || is_gathering_) return;
  if (!owner_.is_ready() || !tasks_.is_ready()) return;
  const auto& open = owner_.jobs().open();
  for (const auto& [id, job] : open) {
    if (!job->entry.group && !job->group) note_pace(*job);
  }
  const double now = world_.clock.steady();
  if (has_partners()) cargo_.look();
  if (now < next_ || (!is_due_ && now < last_ + again_in_)) return;
  const Member who = coordinator(world_.network, true);
  const bool leads = who.id == world_.network.own_id();
  if (!leads) {
    if (is_due_ && !who.id.empty()) {
      ctrl::spawn(world_.host.io(), "queue's coordinator", tell_coordinator(who.id));
    }
    is_due_ = false;
    next_ = now + kSoonest;
    decisions_.keep({});
    promises_.reset();
    return;
  }
  const bool has_partner = has_partners();
  const auto matters = [](const auto& one) {
    return may_start(*one.second) || is_elastic(*one.second);
  };
  if (!has_partner && std::none_of(open.begin(), open.end(), matters)) {
    is_due_ = false;
    for (const auto& [id, job] : open) job->order_shown = 0;
    decisions_.keep({});
    return;
  }
  is_due_ = false;
  next_ = now + kSoonest;
  last_ = now;
  again_in_ = kAtLeast;
  if (!has_partner) return decide({report()});
  is_gathering_ = true;
  ctrl::spawn(world_.host.io(), "reports of the queue", gather());
}

Async<void> Conductor::tell_coordinator(std::string id) {
  const Result<Answer> answer =
      co_await world_.network.ask(std::move(id), "POST", "/v1/peer/queue/wake", "{}", kReportTime);
  if (!answer) ctrl::log::debug(answer.error().message());
}

// ------------------------------------------------------------------------- what is here

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
void Conductor::report_waiting(const Job& job, ReportedJob& reported) const {
  const double steady = world_.clock.steady();
  if (job.entry.task) reported.sent_to = job.entry.task->host;
  reported.freight = job.freight;
  if (reported.freight) reported.freight->image = short_image(reported.freight->image);
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
  for (const auto& [host, until] : job.avoided) {
    if (until > steady) reported.avoided.push_back(host);
  }
  return reported;
}

// A waiting job that has not been estimated yet would start with the default request: it is left
// out until it has been, which is soon.
void Conductor::report_jobs(HostJobs& report) {
  const double pause = report.pause.value_or(PauseMeter().seconds());
  const Offers offers = owner_.offers();
  int estimates = kMostEstimates;
  bool is_late = false;
  for (const JobPtr& job : owner_.jobs().by_arrival()) {
    const bool runs = is_going(*job) || holds_room(*job);
    if (job->group || (!runs && !may_start(*job))) continue;
    if (owner_.size(*job, estimates > 0, offers) && !job->estimates.empty()) --estimates;
    const bool is_unknown = !runs && job->estimated_by == 0;
    is_late = is_late || is_unknown;
    if (!is_unknown) report.jobs.push_back(report_job(*job, pause));
  }
  if (is_late) wake();
}

HostJobs Conductor::report() {
  const Offer offer = owner_.offer();
  const bool is_draining = world_.network.is_draining();
  HostJobs report;
  report.id = world_.network.own_id();
  report.name = world_.host.view().name;
  report.offer = {{"cpu", offer.cpu}, {"mem", offer.mem}};
  const policy::Amounts none{{"cpu", 0.0}, {"mem", 0.0}};
  const bool gives_room = !is_draining && owner_.hears_engine();
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

// ------------------------------------------------------------------------ what all tell

struct Conductor::Gathering {
  explicit Gathering(boost::asio::io_context& io) : done(io) {}
  std::vector<HostJobs> hosts;
  std::size_t missing = 0;
  boost::asio::steady_timer done;
};

Async<void> Conductor::gather() {
  auto gathering = std::make_shared<Gathering>(world_.host.io());
  gathering->hosts.push_back(report());
  for (const Neighbour& neighbour : world_.network.neighbours()) {
    const bool counts = neighbour.is_reachable && neighbour.state && neighbour.state->runs_jobs;
    if (!counts || neighbour.id.empty()) continue;
    ++gathering->missing;
    ctrl::spawn(world_.host.io(), "report of the queue", ask(gathering, neighbour));
  }
  // One that is silent does not stop the queue of the others.
  gathering->done.expires_after(std::chrono::seconds(static_cast<int>(kReportTime) + 1));
  while (gathering->missing > 0) {
    auto [code] = co_await gathering->done.async_wait(kAwait);
    if (!code) break;
  }
  is_gathering_ = false;
  if (world_.is_ended) co_return;
  // What has happened here meanwhile counts.
  gathering->hosts.front() = report();
  decide(gathering->hosts);
}

Async<void> Conductor::ask(std::shared_ptr<Gathering> gathering, Neighbour neighbour) {
  const Result<Answer> answer =
      co_await world_.network.ask(neighbour.id, "GET", "/v1/peer/queue/jobs", "", kReportTime);
  if (answer && answer->status == 200) {
    Result<HostJobs> report = parse_host_jobs(answer->body);
    if (report && report->id == neighbour.id) {
      unusable_.erase(neighbour.id);
      gathering->hosts.push_back(std::move(*report));
    } else if (unusable_.insert(neighbour.id).second) {
      ctrl::log::warning(neighbour.name +
                         " sends an unusable report of its jobs, so it gets none: " +
                         (report ? "they are another host's" : report.error().message()));
    }
  }
  --gathering->missing;
  gathering->done.cancel();
}

void Conductor::decide(const std::vector<HostJobs>& hosts) {
  if (!promises_) promises_.emplace(last_);
  const AllJobs all = all_jobs(hosts, world_.clock.wall(), world_.host.config().queue.starve_limit,
                               promises_->knows_all(last_) ? &*promises_ : nullptr);
  const policy::QueuePolicyKind* kind =
      policy::find_queue_policy(world_.host.config().queue.policy);
  const Result<policy::QueuePlan> plan = kind->decide(all.view);
  if (!plan) {
    ctrl::log::warning("no decision about the queue: " + plan.error().message());
    return;
  }
  const Allocation* allocation = allocated(all, *plan);
  std::vector<PlaceRound> placed;
  const PlacePolicyKind* place = find_place_policy(world_.host.config().queue.place);
  const auto ordered = orders_of(all, *plan, allocation, *place, &placed);
  promises_->note(last_, hosts, all, ordered);
  for (const auto& [owner, orders] : ordered) {
    for (const JobOrder& one : orders) {
      if (one.early_in) again_in_ = std::clamp(*one.early_in, kSoonest, again_in_);
      const bool restarts = one.order && one.order->op == Order::Op::park && one.order->workers > 0;
      if (restarts)
        restarting_ = {owner, one.job,
                       last_ + kAway + std::min(kStays * all.view.pause, kLongestAway), false};
    }
    if (owner == world_.network.own_id()) {
      obey(orders);
    } else {
      ctrl::spawn(world_.host.io(), "orders of the queue", send(owner, orders));
    }
  }
  std::vector<std::string> jobs;
  for (const policy::QueuePlan::Standing& standing : plan->standings) jobs.push_back(standing.job);
  decisions_.keep({jobs.begin(), jobs.end()});
  const bool has_orders = !plan->starts.empty() || !plan->parks.empty();
  const double now = world_.clock.wall();
  if (!plan->rounds.empty()) record(now, jobs, plan->rounds.back(), has_orders);
  for (const PlaceRound& one : placed) {
    decisions_.note(About::placement, now, one.jobs, one.round, one.sentences);
    keep_round(now, one.round);
  }
  if (allocation == nullptr || allocation->rounds.empty()) return;
  jobs.clear();
  for (const auto& [id, workers] : allocation->workers) jobs.push_back(id);
  record(allocated_, jobs, allocation->rounds.back(), allocated_at_ == last_);
}

// A job that was to start again with another number of workers, until it has: meanwhile what was
// decided holds, or others would take what it has left.
bool Conductor::is_away(const AllJobs& all) {
  if (!restarting_) return false;
  bool is_here = false;
  for (std::size_t i = 0; i < all.view.jobs.size(); ++i) {
    const bool is_it =
        all.known[i].owner == restarting_->owner && id_at_owner(all, i) == restarting_->job;
    is_here = is_here || (is_it && is_running(all.view.jobs[i]));
  }
  restarting_->has_left = restarting_->has_left || !is_here;
  const bool is_back = restarting_->has_left && is_here;
  if (is_back || last_ > restarting_->until) restarting_.reset();
  return restarting_.has_value();
}

// Null: none.
const Allocation* Conductor::allocated(const AllJobs& all, const policy::QueuePlan& plan) {
  const ctrl::QueueOptions& options = world_.host.config().queue;
  const AllocateRule rule{options.allocate, options.allocate_interval};
  const bool is_held = is_away(all);
  std::string situation = rule.policy;
  if (options.allocate_events) situation += '\n' + situation_of(all);
  const bool is_due = situation != situation_ || last_ >= allocated_at_ + rule.interval;
  if (is_due && !is_held) {
    allocation_ = allocate(all, plan, rule);
    situation_ = std::move(situation);
    allocated_at_ = last_;
    allocated_ = world_.clock.wall();
  }
  if (!allocation_) return nullptr;
  allocation_->is_held = is_held;
  return &*allocation_;
}

Async<void> Conductor::send(std::string host, std::vector<JobOrder> orders) {
  for (std::size_t first = 0; first < orders.size(); first += kMostOrders) {
    const auto from = orders.begin() + static_cast<std::ptrdiff_t>(first);
    const std::size_t count = std::min(kMostOrders, orders.size() - first);
    const std::vector<JobOrder> some(from, from + static_cast<std::ptrdiff_t>(count));
    const Result<Answer> answer = co_await world_.network.ask(host, "POST", "/v1/peer/queue/order",
                                                              render(some), kReportTime);
    if (!answer) {
      ctrl::log::debug(answer.error().message());
      co_return;
    }
  }
}

// -------------------------------------------------------------------- what is ordered here

Response Conductor::take_orders(const std::string& body, const std::string& speaker) {
  if (!follows(world_.network, speaker, true)) {
    const Member who = coordinator(world_.network, true);
    return failure(409, "for this host " + printable(who.name, 80) + " coordinates");
  }
  const Result<std::vector<JobOrder>> orders = parse_orders(body);
  if (!orders) return failure(422, orders.error().what);
  obey(*orders);
  return Response{200, "{}"};
}

void Conductor::obey(const std::vector<JobOrder>& orders) {
  const auto& open = owner_.jobs().open();
  for (const JobOrder& one : orders) {
    const auto found = open.find(one.job);
    if (found == open.end()) continue;
    const JobPtr job = found->second;
    job->entry.weight = one.weight;
    job->entry.is_starved = one.is_starved;
    job->order_shown = may_start(*job) ? one.place : 0;
    job->obstacle = may_start(*job) ? one.obstacle : "";
    // What was ordered before, and could not be done, has another's room by now.
    if (!one.order) job->order.reset();
    if (!one.order) continue;
    Order order = *one.order;
    const std::string& own = world_.network.own_id();
    if (order.host == own) order.host.clear();
    for (TaskPlace& place : order.places) {
      if (place.host == own) place.host.clear();
    }
    const bool stays = order.host.empty() || job->entry.group;
    if (order.op == Order::Op::send && stays) continue;
    // Whoever coordinates, and whatever it was told.
    if (order.op == Order::Op::park) {
      const double pause = owner_.jobs().pause().value_or(PauseMeter().seconds());
      const bool may_park = world_.host.config().queue.park;
      if (!may_park || !may_be_parked(*job, world_.clock.wall(), pause)) continue;
    }
    if (order.is_early && order.host.empty()) {
      const bool is_taken = order.version == job->entry.version && may_start(*job) &&
                            room_.begin_early(one.job, job->request.amounts()).empty();
      if (!is_taken) job->order.reset();
      if (!is_taken) continue;
    }
    if (!order.host.empty()) order.birth = random_id();
    owner_.give(job, std::move(order));
  }
}

Async<boost::json::object> Conductor::decisions(std::string job) {
  const Member who = coordinator(world_.network, true);
  if (who.id.empty() || who.id == world_.network.own_id()) co_return decisions_.about(job);
  boost::json::object about;
  about["job"] = job;
  std::string body = render_json(about);
  const Result<Answer> answer = co_await world_.network.ask(
      who.id, "POST", "/v1/peer/queue/decisions", std::move(body), kReportTime);
  const bool is_told = answer && answer->status == 200;
  co_return decisions_in(is_told ? answer->body : "");
}

Response Conductor::answer_decisions(const std::string& body) const {
  if (coordinator(world_.network, true).id != world_.network.own_id()) {
    return failure(409, "another host coordinates");
  }
  const Result<boost::json::value> said = parse_json(body);
  const std::string job = said ? text_of(*said, "job") : "";
  return Response{200, render_json(decisions_.about(job))};
}

// Where nothing is ordered the last decision is shown and not kept: most decide nothing.
void Conductor::record(double now, const std::vector<std::string>& jobs,
                       const ctrl::policy::Round& decided, bool is_kept) {
  decisions_.note(About::order, now, jobs, decided);
  if (is_kept) keep_round(now, decided);
}

void Conductor::keep_round(double now, const ctrl::policy::Round& round) {
  if (round.state.size() > kMostRecorded) return;
  const bool is_queued = world_.host.effects().try_post([store = &world_.host.store(), round, now] {
    const Result<void> written =
        store->record({}, {{now, round.algorithm, "", round.state, round.decision}});
    if (!written) ctrl::log::debug(written.error().message());
  });
  if (!is_queued) ctrl::log::debug("a decision is not recorded: the disk is slow");
}

}  // namespace flowcon::cluster::queue
