// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/next_host.h"

#include <algorithm>

namespace flowcon::cluster::queue {
namespace {

using policy::NodeCount;

constexpr std::size_t kMostLooked = 200;  // jobs that wait
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

bool is_due(const AllJobs& all, const NextHost& next, const std::vector<bool>& has_guest) {
  const AllJobs::Known& job = all.known[next.job];
  const std::string& host = all.hosts[next.node];
  if (host == job.owner || !job.sent_to.empty() || !job.freight || has_guest[next.node]) {
    return false;
  }
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

}  // namespace flowcon::cluster::queue
