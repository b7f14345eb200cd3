// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/places.h"

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>

#include "cluster/codec/place_json.h"
#include "cluster/policy/affinity.h"
#include "cluster/policy/explain_place.h"

namespace flowcon::cluster::queue {
namespace {

using policy::Amounts;
using policy::NodeCount;
using policy::Placement;
using policy::PlaceState;
using policy::TaskRole;

constexpr std::size_t kMostHosts = 64;
constexpr std::size_t kLeastBurst = 3;
constexpr std::size_t kMostBurst = 32;
constexpr std::int64_t kMostTasks = 128;  // of one decision
constexpr int kMostDecisions = 16;        // each takes up to some ten milliseconds
constexpr std::int64_t kPlans = 1000;     // of a batch, so that it takes some hundred at most
constexpr double kUsualTraffic = 10e6;    // bytes per second
constexpr double kMostTraffic = 1e15;     // the same
constexpr double kSlowestLink = 1;

// "c0ffee…/w3": unique among the tasks of a state.
std::string task_id(const policy::WaitingTask& job, TaskRole role, std::int64_t number) {
  return job.id + (role == TaskRole::ps ? "/s" : "/w") + std::to_string(number);
}

std::int64_t count_of_tasks(const policy::WaitingTask& job) {
  return job.may_spread ? job.ps + job.workers : 1;
}

// That moves between them were seen to have, the slower of both ways. Unit: bytes per second.
std::optional<double> rate_between(const AllJobs& all, std::size_t a, std::size_t b) {
  std::optional<double> least;
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
    const auto found = all.rates[from].find(all.hosts[to]);
    if (found == all.rates[from].end()) continue;
    least = std::min(least.value_or(found->second), found->second);
  }
  return least ? std::optional(std::max(*least, kSlowestLink)) : std::nullopt;
}

// Is what it needs as near to each host that may have it?
bool is_alike_everywhere(const AllJobs& all, std::size_t job) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (std::size_t node = 0; node < all.hosts.size(); ++node) {
    if (!may_go(all, job, node)) continue;
    const double seconds = seconds_to(all, job, node);
    least = std::min(least, seconds);
    most = std::max(most, seconds);
  }
  return most <= least + kSameSeconds;
}

// Jobs on some nodes as a state of placement, and what was decided as their places.
class State {
 public:
  State(const AllJobs& all, const std::vector<std::size_t>& jobs,
        const std::vector<std::size_t>& nodes, const std::vector<Amounts>& idle)
      : all_(all), nodes_(nodes) {
    state_.hub = true;
    for (const std::size_t job : jobs) add_job(job, idle);
    for (const std::size_t node : nodes) add_node(node, idle[node]);
    add_links();
  }

  PlaceState& state() { return state_; }

  std::map<std::size_t, Spot> spots(const policy::PlaceDecision& decision) const {
    std::unordered_map<std::string_view, std::size_t> at;
    for (std::size_t i = 0; i < nodes_.size(); ++i) at[state_.nodes[i].id] = nodes_[i];
    std::unordered_map<std::string_view, std::size_t> node_of;
    for (const policy::TaskPlace& one : decision.placement) node_of[one.task] = at.at(one.node);
    std::map<std::size_t, Spot> all;
    for (std::size_t i = 0; i < state_.tasks.size(); ++i) {
      const auto found = node_of.find(state_.tasks[i].id);
      if (found == node_of.end()) continue;
      const policy::WaitingTask& job = all_.view.jobs[job_of_[i]];
      Spot& spot = all[job_of_[i]];
      if (wholes_.contains(job_of_[i])) {
        spot.placed = policy::whole_on(found->second, job);
        continue;
      }
      const bool is_ps = state_.tasks[i].role == TaskRole::ps;
      put_one(is_ps ? spot.placed.ps : spot.placed.workers, found->second);
      if (job.ps == 0 && !spot.hub) spot.hub = found->second;
    }
    return all;
  }

 private:
  // A job that may not spread, or need not, is one task.
  void add_job(std::size_t job, const std::vector<Amounts>& idle) {
    const policy::WaitingTask& listed = all_.view.jobs[job];
    const Amounts whole = whole_request(listed);
    const bool is_whole =
        !listed.may_spread || std::any_of(nodes_.begin(), nodes_.end(), [&](std::size_t node) {
          return fits(whole, idle[node]) && may_go(all_, job, node);
        });
    if (is_whole) wholes_.insert(job);
    const auto add = [&](TaskRole role, std::int64_t count, const Amounts& request) {
      for (std::int64_t i = 0; i < count; ++i) {
        state_.tasks.push_back({task_id(listed, role, i), listed.id, role, request});
        job_of_.push_back(job);
      }
      for (const auto& [kind, amount] : request) kinds_.insert(kind);
    };
    if (is_whole) {
      add(TaskRole::worker, 1, whole);
    } else {
      add(TaskRole::ps, listed.ps, listed.ps_request);
      add(TaskRole::worker, listed.workers, listed.request);
    }
    const std::optional<GroupShape>& group = all_.known[job].group;
    const double of_worker =
        group && group->traffic ? std::clamp(*group->traffic, 0.0, kMostTraffic) : kUsualTraffic;
    const auto servers = static_cast<double>(std::max<std::int64_t>(listed.ps, 1));
    state_.traffic.push_back({listed.id, of_worker / servers});
  }

  // What is in use is left out of `cap`, so that what just fits does so after it was written down.
  void add_node(std::size_t node, const Amounts& idle) {
    Amounts cap;
    for (const auto& [kind, amount] : idle) {
      if (kinds_.contains(kind)) cap.emplace_back(kind, std::max(amount, 0.0));
    }
    state_.nodes.push_back({all_.view.nodes[node].id, "", "", std::move(cap), {}});
  }

  void add_links() {
    for (std::size_t a = 0; a < nodes_.size(); ++a) {
      for (std::size_t b = a + 1; b < nodes_.size(); ++b) {
        const auto rate = rate_between(all_, nodes_[a], nodes_[b]);
        if (rate) state_.links.push_back({state_.nodes[a].id, state_.nodes[b].id, *rate});
      }
    }
    if (state_.links.empty()) state_.traffic.clear();
  }

  const AllJobs& all_;
  const std::vector<std::size_t>& nodes_;
  PlaceState state_;
  std::vector<std::size_t> job_of_;  // of its tasks
  std::set<std::size_t> wholes_;     // jobs that are one task
  std::set<std::string> kinds_;      // that its tasks ask for
};

}  // namespace

const std::vector<PlacePolicyKind>& place_policies() {
  static const std::vector<PlacePolicyKind> all{
      {"seeded",
       "where they wait least for each other by the measured rates between hosts, with each host "
       "tried for the first task"},
      {"best-fit", "the same, beginning with the idlest host (as published)", false},
      {"genetic",
       "as seeded, but three or more jobs that start at the same moment share as few hosts as "
       "possible",
       true, true},
  };
  return all;
}

const PlacePolicyKind* find_place_policy(std::string_view name) {
  for (const PlacePolicyKind& kind : place_policies()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

std::optional<Placement> Places::find(std::size_t job, const std::vector<Amounts>& idle) const {
  std::vector<std::size_t> nodes;
  std::vector<policy::QueueNode> offered;
  for (std::size_t i = 0; i < idle.size(); ++i) {
    if (!may_go(all_, job, i)) continue;
    nodes.push_back(i);
    offered.push_back({all_.hosts[i], all_.view.nodes[i].cap, idle[i]});
  }
  std::vector<std::string_view> kinds;
  for (const auto& [kind, amount] : task(job).request) kinds.push_back(kind);
  policy::Room room(offered, kinds);
  policy::Gang gang{room.needs_of(task(job).ps_request),
                    room.needs_of(task(job).request),
                    task(job).ps,
                    task(job).workers,
                    {}};
  gang.whole = policy::whole_of(gang, room.kinds());
  policy::Refusals refusals;
  std::optional<Placement> placed = policy::find_place(room, gang, refusals);
  if (!placed) return {};
  for (auto* tasks : {&placed->ps, &placed->workers}) {
    for (NodeCount& one : *tasks) one.node = nodes[one.node];
  }
  return placed;
}

// Nodes that hold a task of any of these jobs, the idlest first.
std::vector<std::size_t> Places::candidates(const std::vector<std::size_t>& jobs,
                                            const std::vector<Amounts>& idle) const {
  std::vector<std::pair<double, std::size_t>> found;
  for (std::size_t node = 0; node < idle.size(); ++node) {
    const bool takes = std::any_of(jobs.begin(), jobs.end(), [&](std::size_t job) {
      const bool has_room = fits(task(job).request, idle[node]) ||
                            (task(job).ps > 0 && fits(task(job).ps_request, idle[node]));
      return has_room && may_go(all_, job, node);
    });
    if (!takes) continue;
    double idleness = 0;
    for (const auto& [kind, cap] : all_.view.nodes[node].cap) {
      if (cap > 0) idleness += std::min(policy::amount_of(idle[node], kind) / cap, 1.0);
    }
    found.emplace_back(-idleness, node);
  }
  std::sort(found.begin(), found.end());
  if (found.size() > kMostHosts) found.resize(kMostHosts);
  std::vector<std::size_t> nodes;
  for (const auto& [idleness, node] : found) nodes.push_back(node);
  return nodes;
}

std::map<std::size_t, Spot> Places::decide(const std::vector<std::size_t>& jobs,
                                           const std::vector<Amounts>& idle,
                                           policy::PlaceMode mode) {
  const std::vector<std::size_t> nodes = candidates(jobs, idle);
  if (nodes.empty() || decisions_ == kMostDecisions) return {};
  ++decisions_;
  State asked(all_, jobs, nodes, idle);
  PlaceState& state = asked.state();
  state.mode = mode;
  state.seeded = policy_.is_seeded;
  state.plans = kPlans;
  const Result<policy::PlaceDecision> decision = policy::decide_place(state);
  if (!decision || !decision->unplaced.empty()) return {};
  if (rounds_ != nullptr) {
    ctrl::policy::Rounds rounds;
    ctrl::policy::add_round(&rounds, state, *decision);
    PlaceRound& round = rounds_->emplace_back(PlaceRound{std::move(rounds.front()), {}, {}});
    for (const std::size_t job : jobs) {
      ctrl::policy::About about;
      about.id = task(job).id;
      const Result<std::string> sentence = explain(state, *decision, about);
      round.sentences.push_back(sentence ? *sentence : sentence.error().message());
      round.jobs.push_back(about.id);
    }
  }
  return asked.spots(*decision);
}

std::optional<Spot> Places::closest(std::size_t job, const std::vector<Amounts>& idle) {
  if (count_of_tasks(task(job)) > kMostTasks) return {};
  const auto all = decide({job}, idle, policy::PlaceMode::immediate);
  return all.empty() ? std::nullopt : std::optional(all.begin()->second);
}

std::vector<std::size_t> Places::burst(const std::vector<std::size_t>& jobs) const {
  std::vector<std::size_t> some;
  if (!policy_.is_for_bursts) return some;
  std::int64_t tasks = 0;
  for (const std::size_t job : jobs) {
    const std::int64_t more = count_of_tasks(task(job));
    if (some.size() == kMostBurst) break;
    if (tasks + more > kMostTasks || !all_.known[job].sent_to.empty()) continue;
    if (!is_alike_everywhere(all_, job)) continue;
    tasks += more;
    some.push_back(job);
  }
  if (some.size() < kLeastBurst) some.clear();
  return some;
}

std::map<std::size_t, Spot> Places::together(const std::vector<std::size_t>& jobs,
                                             const std::vector<Amounts>& idle) {
  return decide(jobs, idle, policy::PlaceMode::batch);
}

void Places::sort_by_distance(std::vector<std::size_t>& nodes, std::size_t hub) const {
  const auto rate = [&](std::size_t node) { return rate_between(all_, hub, node).value_or(0); };
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&](std::size_t a, std::size_t b) { return rate(a) > rate(b); });
}

}  // namespace flowcon::cluster::queue
