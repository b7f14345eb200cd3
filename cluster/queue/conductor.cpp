// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/conductor.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/random_id.h"
#include "base/text.h"
#include "cluster/queue/next_host.h"
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
constexpr double kLongestAway = 600;
constexpr double kAway = 60;  // seconds, and a few pauses, in which one has started again
constexpr std::size_t kMostRecorded = 1 << 20;  // bytes of a decision's state

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
  const bool is_draining = world_.network.is_draining();
  const auto matters = [is_draining](const auto& one) {
    return is_draining || may_start(*one.second) || is_elastic(*one.second);
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
  AllJobs all = all_jobs(hosts, world_.clock.wall(), world_.host.config().queue.starve_limit,
                         promises_->knows_all(last_) ? &*promises_ : nullptr);
  const policy::QueuePolicyKind* kind =
      policy::find_queue_policy(world_.host.config().queue.policy);
  const Result<policy::QueuePlan> plan = decide_near(all, *kind);
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
    if (!job->obstacle.empty() && !job->obstacle.starts_with(kNextOn)) {
      if (std::string why = room_.why_gpus_taken(*job); !why.empty()) job->obstacle = why;
    }
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
    const bool is_here = order.op == Order::Op::start && stays;
    if (const std::string why = is_here ? room_.why_gpus_taken(*job) : ""; !why.empty()) {
      job->order.reset();
      job->obstacle = why;
      continue;
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

Async<Response> Conductor::ask_coordinator(std::string target) {
  const Member who = coordinator(world_.network, true);
  if (who.id.empty() || who.id == world_.network.own_id()) {
    ctrl::api::Request request;
    request.method = "GET";
    request.target = std::move(target);
    co_return co_await world_.host.answer(std::move(request));
  }
  std::string body = passed_call("GET", target);
  const Result<Answer> answer =
      co_await world_.network.ask(who.id, "POST", "/v1/peer/call", std::move(body), kReportTime);
  if (!answer) co_return failure(502, answer.error().message());
  co_return passed_answer(*answer, printable(who.name, 80));
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
