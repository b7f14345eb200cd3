// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/conductor.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <cmath>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "ctrl/effects.h"
#include "ctrl/log.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster::queue {
namespace {

using ctrl::Async;

constexpr double kSoonest = 1;   // seconds between two decisions
constexpr double kAtLeast = 10;  // seconds: memory comes back and what is left changes, unannounced
constexpr double kPause = 10;    // seconds that a job loses which saves itself and starts again
constexpr double kLeastCores = 0.05;
constexpr int kMostEstimates = 50;              // at a decision; each takes up to a millisecond
constexpr std::size_t kMostRecorded = 1 << 20;  // bytes of a decision's state

// Does it have its room, or is it about to?
bool holds_room(const Job& job) {
  return job.entry.state != JobState::waiting && !is_closed(job.entry.state);
}

bool may_start(const Job& job) {
  return job.entry.state == JobState::waiting && !job.entry.is_held && job.ticket;
}

std::optional<double> expected_of(const Job& job, const char* label) {
  for (const ctrl::estimate::LabelEstimate& one : job.estimates) {
    if (one.label == label) return one.expected;
  }
  return std::nullopt;
}

double priority_of(const Job& job) {
  return job.entry.chosen.priority.value_or(job.ticket ? job.ticket->labels.priority : 1);
}

bool fits(const policy::Amounts& request, const policy::Amounts& idle) {
  return std::all_of(request.begin(), request.end(), [&](const auto& asked) {
    return asked.second <= policy::amount_of(idle, asked.first) + policy::Room::kTolerance;
  });
}

void take(policy::Amounts& idle, const policy::Amounts& request) {
  for (auto& [kind, amount] : idle) amount -= policy::amount_of(request, kind);
}

// "waits for 1.5 cores and 2048 MiB of memory"; what it lacks.
std::string lack_of(const policy::Amounts& request, const policy::Amounts& idle) {
  std::string lacks;
  const double cores = policy::amount_of(request, "cpu") - policy::amount_of(idle, "cpu");
  const double bytes = policy::amount_of(request, "mem") - policy::amount_of(idle, "mem");
  const auto two_digits = [](double number) { return render_number(std::ceil(number * 10) / 10); };
  if (cores > policy::Room::kTolerance) {
    lacks = two_digits(cores) + (cores <= 1 && cores > 0.9 ? " core" : " cores");
  }
  if (bytes > policy::Room::kTolerance) {
    const double gibibytes = bytes / (1024.0 * 1024 * 1024);
    lacks += (lacks.empty() ? "" : " and ") +
             (gibibytes >= 1 ? two_digits(gibibytes) + " GiB"
                             : render_number(std::ceil(bytes / 1048576)) + " MiB") +
             " of memory";
  }
  return lacks;
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

void Conductor::look() {
  if (world_.is_ended || !owner_.is_ready() || world_.history() == 0) return;
  const double now = world_.clock.steady();
  if (now < next_ || (!is_due_ && now < last_ + kAtLeast)) return;
  const auto& open = owner_.jobs().open();
  if (std::none_of(open.begin(), open.end(),
                   [](const auto& one) { return may_start(*one.second); })) {
    is_due_ = false;
    for (const auto& [id, job] : open) job->order_shown = 0;
    return;
  }
  is_due_ = false;
  next_ = now + kSoonest;
  last_ = now;
  decide();
}

policy::Amounts Conductor::free() const {
  const ctrl::HostView host = world_.host.view();
  std::vector<Holder> holders;
  std::set<std::string> own;
  for (const auto& [id, job] : owner_.jobs().open()) {
    if (!holds_room(*job)) continue;
    const auto use = world_.host.use_of(id);
    holders.push_back({job->request.amounts(), use ? use->memory : 0});
    own.insert(id);
  }
  Others others;
  for (const std::string& id : host.jobs) {
    const auto use = own.contains(id) ? std::nullopt : world_.host.use_of(id);
    if (!use) continue;
    others.cpu += use->cores;
    others.memory += use->memory;
  }
  if (host.available > 0) others.available = host.available;
  return free_of(owner_.offer(), holders, others);
}

std::optional<double> Conductor::left(const Job& job) const {
  const double cores = std::max(kLeastCores, job.request.cpu.value);
  if (const auto forecast = world_.host.forecast(job.entry.id)) {
    return forecast->left / std::min(cores, forecast->width.value_or(cores));
  }
  double total = 0;
  for (const char* label : {"seconds_launch", "seconds_train", "seconds_save"}) {
    const std::optional<double> part = expected_of(job, label);
    if (!part && std::string(label) == "seconds_train") return std::nullopt;
    total += part.value_or(0);
  }
  const double rest = total - served(job.entry, world_.clock.wall());
  return rest > 0 ? std::optional(rest) : std::nullopt;
}

policy::QueueView Conductor::view() const {
  const double now = world_.clock.wall();
  const ctrl::HostView host = world_.host.view();
  const Offer offer = owner_.offer();
  const auto& open = owner_.jobs().open();
  // One at a time gives its room away: what it leaves is known when it has gone.
  const bool is_parking = std::any_of(open.begin(), open.end(), [](const auto& one) {
    return one.second->entry.state == JobState::parking;
  });
  policy::QueueView view;
  view.now = now;
  view.starve_limit = world_.host.config().queue.starve_limit;
  view.pause = kPause;
  view.totals = owner_.jobs().totals();
  view.nodes.push_back({host.name, {{"cpu", offer.cpu}, {"mem", offer.mem}}, free()});
  int estimates = kMostEstimates;
  for (const auto& [id, job] : open) {
    const bool runs = holds_room(*job);
    if (!runs && !may_start(*job)) continue;
    if (owner_.size(*job, estimates > 0)) --estimates;
    policy::WaitingTask task;
    task.id = id;
    task.since = job->entry.submitted;
    task.waited = waited(job->entry, now);
    task.served = served(job->entry, now);
    task.left = left(*job);
    task.priority = priority_of(*job);
    task.weight = job->entry.weight;
    task.is_starved = job->entry.is_starved;
    task.request = job->request.amounts();
    if (runs) task.node = 0;
    task.is_parkable = job->entry.state == JobState::running && world_.host.config().queue.park &&
                       !is_parking && job->ticket && job->ticket->saves_itself &&
                       !job->entry.is_unparkable;
    view.jobs.push_back(std::move(task));
  }
  return view;
}

void Conductor::decide() {
  const policy::QueueView seen = view();
  const policy::QueuePolicyKind* kind =
      policy::find_queue_policy(world_.host.config().queue.policy);
  const Result<policy::QueuePlan> plan = kind->decide(seen);
  if (!plan) {
    ctrl::log::warning("the queue is not decided: " + plan.error().message());
    return;
  }
  note(*plan, seen);
  give(*plan, seen);
  record(*plan, !plan->starts.empty() || !plan->parks.empty());
}

// A start waits for the room that it was decided on; what comes after it finds the rest.
void Conductor::give(const policy::QueuePlan& plan, const policy::QueueView& view) {
  policy::Amounts idle = view.nodes.front().idle;
  const auto& open = owner_.jobs().open();
  for (const policy::QueuePlan::Start& start : plan.starts) {
    const auto found = open.find(start.job);
    if (found == open.end()) continue;
    const policy::Amounts request = found->second->request.amounts();
    if (fits(request, idle)) {
      owner_.give(found->second, {Order::Op::start, found->second->entry.version});
    } else {
      found->second->obstacle = "waits for a job that is being parked";
    }
    take(idle, request);
  }
  for (const std::string& id : plan.parks) {
    const auto found = open.find(id);
    if (found == open.end()) continue;
    owner_.give(found->second, {Order::Op::park, found->second->entry.version});
    break;
  }
}

// What is shown of each job until the next decision.
void Conductor::note(const policy::QueuePlan& plan, const policy::QueueView& view) {
  const auto& open = owner_.jobs().open();
  const policy::Amounts& idle = view.nodes.front().idle;
  for (const auto& [id, job] : open) {
    job->order_shown = 0;
    job->obstacle.clear();
  }
  std::size_t place = 0;
  for (const policy::QueuePlan::Standing& standing : plan.standings) {
    const auto found = open.find(standing.job);
    if (found == open.end()) continue;
    Job& job = *found->second;
    job.entry.weight = standing.weight;
    job.entry.is_starved = standing.is_starved;
    if (!may_start(job)) continue;
    job.order_shown = ++place;
    const std::string lacks = lack_of(job.request.amounts(), idle);
    job.obstacle = lacks.empty() ? "waits for jobs before it" : "waits for " + lacks;
  }
}

// Where nothing is ordered the last decision is shown and not kept: most decide nothing.
void Conductor::record(const policy::QueuePlan& plan, bool has_orders) {
  if (plan.rounds.empty()) return;
  const double now = world_.clock.wall();
  const auto round = std::make_shared<const ctrl::policy::Round>(plan.rounds.back());
  for (const policy::QueuePlan::Standing& standing : plan.standings) {
    const auto found = owner_.jobs().open().find(standing.job);
    if (found != owner_.jobs().open().end()) found->second->decided = {now, round};
  }
  if (!has_orders || round->state.size() > kMostRecorded) return;
  const bool is_queued = world_.host.effects().try_post([store = &world_.host.store(), round, now] {
    const Result<void> written =
        store->record({}, {{now, round->algorithm, "", round->state, round->decision}});
    if (!written) ctrl::log::debug(written.error().message());
  });
  if (!is_queued) ctrl::log::debug("a decision is not recorded: the disk is slow");
}

}  // namespace flowcon::cluster::queue
