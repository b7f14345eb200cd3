// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/starts.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace flowcon::cluster::queue {
namespace {

using policy::Placement;

struct Starting {
  std::size_t job = 0;
  Spot planned;
  bool is_now = false;       // there is room for it, and for those before it
  bool is_together = false;  // it is planned together with others
  std::vector<bool> barred;  // QueuePlan::Start::barred
};

class Starts {
 public:
  Starts(const AllJobs& all, const Allocation* allocation, Places& places,
         std::vector<policy::Amounts>& idle)
      : all_(all), allocation_(allocation), places_(places), idle_(idle), free_(idle) {}

  std::vector<Start> decide(const policy::QueuePlan& plan) {
    std::vector<Start> starts;
    const std::vector<Starting> all = starting(plan);
    for (const Starting& one : all) {
      if (is_reserved(one)) take(free_, one.job, one.planned.placed);
    }
    for (const Starting& one : all) {
      if (is_reserved(one)) give(free_, one.job, one.planned.placed);
      Start& start = starts.emplace_back(Start{one.job, place_for(one), false});
      start.is_parked_for = !start.spot && !one.is_now && is_reserved(one);
      if (!start.spot && !start.is_parked_for) continue;
      for (auto* idle : {&idle_, &free_}) {
        take(*idle, one.job, start.spot ? start.spot->placed : one.planned.placed);
      }
    }
    return starts;
  }

 private:
  const policy::WaitingTask& task(std::size_t job) const { return all_.view.jobs[job]; }

  static bool is_barred(const Starting& one, std::size_t node) {
    return !one.barred.empty() && one.barred[node];
  }

  // Does it keep its planned room from those before it?
  bool is_reserved(const Starting& one) const {
    const bool is_waited_for = one.is_now || !makes_room_for(allocation_, task(one.job).id);
    return is_waited_for && may_all_go(one, one.planned.placed);
  }

  // Of a job that is to start as a whole there. Empty: it has to wait for that room, if it may.
  std::optional<std::size_t> room_for(const Starting& one, std::size_t node) const {
    const std::size_t job = one.job;
    const policy::Amounts request = whole_request(task(job));
    const auto is_sent_to = [&](std::size_t i) { return all_.hosts[i] == all_.known[job].sent_to; };
    const auto takes = [&](std::size_t i) {
      const bool is_its = i == node || is_sent_to(i);
      return fits(request, is_its ? idle_[i] : free_[i]) && may_go(all_, job, i) &&
             !is_barred(one, i);
    };
    std::optional<std::size_t> best;
    if (takes(node)) {
      best = node;
    } else if (!one.is_now && may_go(all_, job, node) && !is_barred(one, node)) {
      return {};
    }
    for (std::size_t i = 0; i < idle_.size(); ++i) {
      if (!takes(i)) continue;
      if (is_sent_to(i)) return i;
      if (!best || seconds_to(all_, job, i) + kSameSeconds < seconds_to(all_, job, *best)) best = i;
    }
    return best;
  }

  policy::Amounts part_of(std::size_t job, const Placement& placed, std::size_t node) const {
    return policy::sum_of(task(job), count_on(placed.workers, node), count_on(placed.ps, node));
  }

  // Where its tasks wait least for each other, or at least have room.
  std::optional<Spot> spread(std::size_t job) {
    if (auto closest = places_.closest(job, free_)) return closest;
    if (auto found = places_.find(job, free_)) return Spot{*found, {}};
    return {};
  }

  bool may_all_go(const Starting& one, const Placement& planned) const {
    const std::vector<std::size_t> nodes = nodes_of(planned);
    return std::all_of(nodes.begin(), nodes.end(), [&](std::size_t node) {
      return may_go(all_, one.job, node) && !is_barred(one, node);
    });
  }

  std::optional<Spot> unless_barred(const Starting& one, std::optional<Spot> spot) const {
    return spot && may_all_go(one, spot->placed) ? std::move(spot) : std::nullopt;
  }

  bool is_idle(std::size_t job, const Placement& planned,
               const std::vector<policy::Amounts>& idle) const {
    const std::vector<std::size_t> nodes = nodes_of(planned);
    return std::all_of(nodes.begin(), nodes.end(), [&](std::size_t node) {
      return fits(part_of(job, planned, node), idle[node]);
    });
  }

  // Where it starts, of what is planned. Empty: it has to wait for that room, if it may.
  std::optional<Spot> place_for(const Starting& one) {
    const std::size_t job = one.job;
    const Placement& planned = one.planned.placed;
    const std::vector<std::size_t> nodes = nodes_of(planned);
    const bool may_all = may_all_go(one, planned);
    const bool has_room = may_all && is_idle(job, planned, idle_);
    if (has_room && one.is_together) return one.planned;
    if (nodes.size() == 1) {
      const auto node = room_for(one, nodes.front());
      if (node) return Spot{policy::whole_on(*node, task(job)), {}};
    } else if (has_room) {
      return unless_barred(one, places_.closest(job, free_)).value_or(one.planned);
    }
    const bool waits = !one.is_now && may_all;
    return waits || !task(job).may_spread ? std::nullopt : unless_barred(one, spread(job));
  }

  // The places of those that the plan starts.
  std::map<std::string_view, std::size_t> jobs_of(const policy::QueuePlan& plan) const {
    std::set<std::string_view> ids;
    for (const policy::QueuePlan::Start& one : plan.starts) ids.insert(one.job);
    std::map<std::string_view, std::size_t> jobs;
    for (std::size_t i = 0; i < all_.view.jobs.size(); ++i) {
      if (ids.contains(all_.view.jobs[i].id)) jobs[all_.view.jobs[i].id] = i;
    }
    return jobs;
  }

  // What the plan starts; those that start now where the policy wants them together.
  std::vector<Starting> starting(const policy::QueuePlan& plan) {
    std::vector<Starting> all;
    std::vector<std::size_t> now;
    std::vector<policy::Amounts> idle = idle_;
    const std::map<std::string_view, std::size_t> jobs = jobs_of(plan);
    for (const policy::QueuePlan::Start& one : plan.starts) {
      const auto found = jobs.find(one.job);
      if (found == jobs.end()) continue;
      const std::size_t job = found->second;
      const bool is_now = is_idle(job, one.placed, idle);
      take(idle, job, one.placed);
      const Starting& start =
          all.emplace_back(Starting{job, {one.placed, {}}, is_now, false, one.barred});
      // Those that are placed together go anywhere.
      if (is_now && one.barred.empty() && may_all_go(start, one.placed)) now.push_back(job);
    }
    const std::vector<std::size_t> burst = places_.burst(now);
    if (burst.empty()) return all;
    const std::set<std::size_t> chosen(burst.begin(), burst.end());
    idle = idle_;
    for (const Starting& one : all) {
      const bool is_other = !chosen.contains(one.job);
      if (is_other && is_reserved(one)) take(idle, one.job, one.planned.placed);
    }
    const std::map<std::size_t, Spot> spots = places_.together(burst, idle);
    for (Starting& one : all) {
      const auto found = spots.find(one.job);
      one.is_together = found != spots.end();
      if (one.is_together) one.planned = found->second;
    }
    return all;
  }

  void take(std::vector<policy::Amounts>& idle, std::size_t job, const Placement& placed) const {
    for (const std::size_t node : nodes_of(placed)) add(idle[node], part_of(job, placed, node), -1);
  }
  void give(std::vector<policy::Amounts>& idle, std::size_t job, const Placement& placed) const {
    for (const std::size_t node : nodes_of(placed)) add(idle[node], part_of(job, placed, node), 1);
  }

  const AllJobs& all_;
  const Allocation* allocation_;
  Places& places_;
  std::vector<policy::Amounts>& idle_;
  std::vector<policy::Amounts> free_;  // of it: that is planned for no other start
};

}  // namespace

std::vector<Start> starts_of(const AllJobs& all, const policy::QueuePlan& plan,
                             const Allocation* allocation, Places& places,
                             std::vector<policy::Amounts>& idle) {
  return Starts(all, allocation, places, idle).decide(plan);
}

}  // namespace flowcon::cluster::queue
