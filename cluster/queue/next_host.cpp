// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/next_host.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace flowcon::cluster::queue {
namespace {

using policy::NodeCount;

constexpr std::size_t kMostLooked = 200;  // jobs that wait
constexpr int kMostTries = 4;             // at a decision, each after the first for others
constexpr double kLeastEarly = 3;         // seconds: what it takes to be started at all

struct End {
  double seconds = 0;
  std::size_t job = 0;
};

std::vector<End> ends_of(const AllJobs& all) {
  std::vector<End> ends;
  for (std::size_t i = 0; i < all.view.jobs.size(); ++i) {
    const policy::WaitingTask& job = all.view.jobs[i];
    if (is_running(job) && job.left) ends.push_back({*job.left, i});
  }
  std::stable_sort(ends.begin(), ends.end(),
                   [](const End& a, const End& b) { return a.seconds < b.seconds; });
  return ends;
}

// Of a job that is placed so.
policy::Amounts part_on(const policy::WaitingTask& job, const policy::Placement& placed,
                        std::size_t node) {
  return policy::sum_of(job, policy::count_on(placed.workers, node),
                        policy::count_on(placed.ps, node));
}

// Seconds until there is as much, less than `most`; empty: nobody knows.
std::optional<double> room_in(const AllJobs& all, const std::vector<End>& ends, std::size_t node,
                              const policy::Amounts& request, policy::Amounts idle, double most) {
  for (const End& end : ends) {
    if (end.seconds >= most) break;
    const policy::Placement& over = all.view.jobs[end.job].placed;
    if (policy::count_on(over.workers, node) + policy::count_on(over.ps, node) == 0) continue;
    add(idle, part_on(all.view.jobs[end.job], over, node), 1);
    if (fits(request, idle)) return end.seconds;
  }
  return {};
}

// Of those with room the one where it has what it lacks first.
std::optional<std::size_t> nearest(const AllJobs& all, std::size_t job,
                                   const std::vector<policy::Amounts>& idle) {
  const policy::Amounts request = whole_request(all.view.jobs[job]);
  std::optional<std::size_t> best;
  for (std::size_t node = 0; node < idle.size(); ++node) {
    if (!fits(request, idle[node]) || !may_go(all, job, node)) continue;
    if (!best || seconds_to(all, job, node) < seconds_to(all, job, *best)) best = node;
  }
  return best;
}

// Where it would begin earlier than its way takes, and in so many seconds.
std::optional<std::pair<std::size_t, double>> sooner(const AllJobs& all,
                                                     const std::vector<End>& ends, std::size_t job,
                                                     const std::vector<policy::Amounts>& idle,
                                                     double way) {
  const policy::Amounts request = whole_request(all.view.jobs[job]);
  std::optional<std::pair<std::size_t, double>> best;
  for (std::size_t node = 0; node < idle.size(); ++node) {
    const double nearer = seconds_to(all, job, node);
    if (nearer >= way || !may_go(all, job, node)) continue;
    const auto room = room_in(all, ends, node, request, idle[node], way);
    if (!room || *room + nearer + kSameSeconds >= (best ? best->second : way)) continue;
    best = {node, *room + nearer};
  }
  return best;
}

// What is idle, without what those have first that wait for one host alone.
std::vector<policy::Amounts> unclaimed(const AllJobs& all,
                                       const std::set<std::string_view>& starts) {
  std::vector<policy::Amounts> idle;
  for (const policy::QueueNode& node : all.view.nodes) idle.push_back(node.idle);
  for (std::size_t job = 0; job < all.known.size(); ++job) {
    const AllJobs::Known& known = all.known[job];
    const policy::WaitingTask& task = all.view.jobs[job];
    std::optional<std::size_t> node = known.awaits;
    if (!node && known.is_waiting && !why_bound(all, job).empty() && !starts.contains(task.id)) {
      const auto home = std::find(all.hosts.begin(), all.hosts.end(), known.owner);
      node = static_cast<std::size_t>(home - all.hosts.begin());
    }
    if (node) add(idle[*node], whole_request(task), -1);
  }
  return idle;
}

bool is_due(const AllJobs& all, const NextHost& next, const std::vector<bool>& has_guest) {
  const AllJobs::Known& job = all.known[next.job];
  const std::string& host = all.hosts[next.node];
  if (host == job.owner || !job.sent_to.empty() || !job.freight || has_guest[next.node]) {
    return false;
  }
  // Which GPUs it gets is said when it is made: they would be other ones than come free.
  const double gpus = policy::amount_of(whole_request(all.view.jobs[next.job]), "gpu");
  const bool is_any = policy::amount_of(all.view.nodes[next.node].cap, "gpu") > std::max(gpus, 1.0);
  if (gpus > 0 && is_any) return false;
  return next.seconds <= 1.5 * seconds_to(all, next.job, next.node) + 10;
}

// `idle`: there, now.
std::optional<double> early_in(const AllJobs& all, const NextHost& next,
                               const policy::Amounts& idle) {
  const AllJobs::Known& job = all.known[next.job];
  const std::string& host = all.hosts[next.node];
  const bool is_there = job.sent_to == host || (job.sent_to.empty() && host == job.owner);
  const bool may_begin = job.launch && is_there && all.takes_early[next.node];
  if (!may_begin || is_overbooked(idle)) return {};
  policy::Amounts request = whole_request(all.view.jobs[next.job]);
  std::erase_if(request, [](const auto& asked) { return asked.first == "cpu"; });
  if (!fits(request, idle)) return {};
  return next.seconds - std::clamp(*job.launch, kLeastEarly, kMostEarly);
}

// Could it have room there, if nothing else were there?
bool could_fit(const AllJobs& all, std::size_t job) {
  for (std::size_t node = 0; node < all.hosts.size(); ++node) {
    const policy::Amounts request = whole_request(all.view.jobs[job]);
    if (may_go(all, job, node) && fits(request, all.view.most[node])) return true;
  }
  return false;
}

// No starved one is passed by those that come after it; `found` has all that come before `next`.
void keep_order(const AllJobs& all, const std::vector<std::size_t>& waiting,
                const std::vector<NextHost>& found, NextHost& next) {
  const auto place = [&](std::size_t job) {
    return std::find(waiting.begin(), waiting.end(), job) - waiting.begin();
  };
  for (const NextHost& other : found) {
    if (!all.view.jobs[other.job].is_starved || place(other.job) > place(next.job)) continue;
    next.early_in = std::max(*next.early_in, other.early_in.value_or(other.seconds));
  }
}

}  // namespace

std::vector<NextHost> next_hosts(const AllJobs& all, const std::vector<std::size_t>& waiting,
                                 std::vector<policy::Amounts> idle) {
  const std::vector<policy::Amounts> now = idle;
  std::vector<bool> is_given(all.hosts.size(), false);  // room that comes free, to a job
  std::vector<std::size_t> left(
      waiting.begin(),
      waiting.begin() + static_cast<std::ptrdiff_t>(std::min(waiting.size(), kMostLooked)));
  std::vector<bool> has_guest(all.hosts.size(), false);
  for (std::size_t node = 0; node < all.hosts.size(); ++node) {
    has_guest[node] = std::any_of(all.known.begin(), all.known.end(),
                                  [&](const auto& job) { return job.sent_to == all.hosts[node]; });
  }
  std::vector<NextHost> found;
  for (const End& end : ends_of(all)) {
    const policy::WaitingTask& over = all.view.jobs[end.job];
    for (const NodeCount& one : over.placed.workers) {
      add(idle[one.node], over.request, static_cast<double>(one.count));
    }
    for (const NodeCount& one : over.placed.ps) {
      add(idle[one.node], over.ps_request, static_cast<double>(one.count));
    }
    for (const std::size_t node : nodes_of(over.placed)) {
      bool is_first = true;  // of those that have no place yet, and could have one
      std::erase_if(left, [&](std::size_t job) {
        const policy::Amounts request = whole_request(all.view.jobs[job]);
        if (!may_go(all, job, node) || !fits(request, idle[node])) {
          is_first = is_first && !could_fit(all, job);
          return false;
        }
        add(idle[node], request, -1);
        NextHost next{job, node, end.seconds};
        next.is_due = is_due(all, next, has_guest);
        if (next.is_due) has_guest[node] = true;
        if (is_first && !is_given[node]) next.early_in = early_in(all, next, now[node]);
        if (next.early_in) keep_order(all, waiting, found, next);
        is_given[node] = true;
        found.push_back(next);
        return true;
      });
    }
    if (left.empty()) break;
  }
  return found;
}

namespace {

// False: none is to wait.
bool keep_near(AllJobs& all, const policy::QueuePlan& plan) {
  const std::vector<End> ends = ends_of(all);
  if (plan.starts.empty() || ends.empty()) return false;
  std::map<std::string_view, std::size_t> places;
  for (std::size_t job = 0; job < all.known.size(); ++job) places[all.view.jobs[job].id] = job;
  std::set<std::string_view> starts;
  for (const policy::QueuePlan::Start& start : plan.starts) starts.insert(start.job);
  std::vector<policy::Amounts> idle = unclaimed(all, starts);
  std::set<std::size_t> awaited;
  for (const policy::QueuePlan::Start& start : plan.starts) {
    const std::size_t job = places.at(start.job);
    AllJobs::Known& known = all.known[job];
    if (known.awaits) continue;
    const policy::WaitingTask& task = all.view.jobs[job];
    const bool may_wait = known.freight && task.waited <= all.view.starve_limit;
    const auto there = may_wait ? nearest(all, job, idle) : std::nullopt;
    if (!there) {
      for (const std::size_t node : nodes_of(start.placed)) {
        add(idle[node], part_on(task, start.placed, node), -1);
      }
      continue;
    }
    const auto better = sooner(all, ends, job, idle, seconds_to(all, job, *there));
    add(idle[better ? better->first : *there], whole_request(task), -1);
    if (!better) continue;
    awaited.insert(better->first);
    std::vector<bool> is_far;
    for (std::size_t node = 0; node < all.hosts.size(); ++node) {
      is_far.push_back(seconds_to(all, job, node) > better->second);
    }
    known.awaits = better->first;
    known.is_far = std::move(is_far);
  }
  if (awaited.empty()) return false;
  keep_running(all, awaited);  // one that has room elsewhere waits for their end
  bind_to_hosts(all);
  return true;
}

}  // namespace

Result<policy::QueuePlan> decide_near(AllJobs& all, const policy::QueuePolicyKind& kind) {
  Result<policy::QueuePlan> plan = kind.decide(all.view);
  if (kind.keeps_order) return plan;
  for (int i = 1; i < kMostTries && plan && keep_near(all, *plan); ++i) {
    plan = kind.decide(all.view);
  }
  return plan;
}

}  // namespace flowcon::cluster::queue
