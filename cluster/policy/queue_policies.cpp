// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/queue_policies.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "cluster/codec/left_json.h"
#include "cluster/codec/queue_json.h"
#include "cluster/policy/left_queue.h"
#include "cluster/policy/queue.h"
#include "cluster/policy/report.h"

namespace flowcon::cluster::policy {
namespace {

constexpr double kNominal = 3600;  // seconds that a job takes while nothing is known of any

// As it is.
QueueJob shape_of(const WaitingTask& task) {
  QueueJob job;
  job.id = task.id;
  job.since = task.since;
  job.weight = task.weight;
  job.min = job.max = task.workers;
  job.ps = task.ps;
  job.worker_request = task.request;
  job.ps_request = task.ps_request;
  job.placed = task.placed;
  return job;
}

// As it is decided about: what has to be on one node is one task.
QueueJob queue_job(const WaitingTask& task) {
  QueueJob job = shape_of(task);
  if (task.may_spread) return job;
  job.worker_request = whole_request(task);
  job.min = job.max = 1;
  job.ps = 0;
  job.placed = {};
  if (is_running(task)) put_one(job.placed.workers, nodes_of(task.placed).front());
  return job;
}

Placement start_of(const WaitingTask& job, const Placement& decided) {
  return job.may_spread ? decided : whole_on(decided.workers.front().node, job);
}

std::map<std::string, const WaitingTask*> by_id(const QueueView& view) {
  std::map<std::string, const WaitingTask*> jobs;
  for (const WaitingTask& job : view.jobs) jobs[job.id] = &job;
  return jobs;
}

// ---------------------------------------------------------------------------- by what is left

// Of each job. A guess that a priority acts on has to be made here: the decision knows none.
std::vector<std::optional<double>> lefts(const QueueView& view) {
  std::vector<double> known = view.totals;
  bool has_priorities = false;
  for (const WaitingTask& job : view.jobs) {
    has_priorities = has_priorities || job.priority != 1;
    if (job.left) known.push_back(job.served + *job.left);
  }
  const double typical = median(std::move(known)).value_or(kNominal);
  std::vector<std::optional<double>> all;
  all.reserve(view.jobs.size());
  for (const WaitingTask& job : view.jobs) {
    std::optional<double> left = job.left;
    if (!left && has_priorities) left = guessed_left(job.served, typical);
    if (left) *left /= job.priority;
    all.push_back(left);
  }
  return all;
}

// One that runs and cannot be saved keeps its place: it is not asked about.
bool is_fixed(const WaitingTask& job) { return is_running(job) && !job.is_parkable; }

void add_times(Amounts& to, const Amounts& request, std::int64_t times) {
  for (const auto& [kind, amount] : request) {
    if (!(amount > 0) || times <= 0) continue;
    const auto found = std::find_if(to.begin(), to.end(),
                                    [&name = kind](const auto& one) { return one.first == name; });
    Amounts::value_type& sum = found == to.end() ? to.emplace_back(kind, 0) : *found;
    sum.second += amount * static_cast<double>(times);
  }
}

// What jobs have that end before another one could have their room by being saved. Empty: none do.
std::vector<Amounts> soon_free(const QueueView& view) {
  std::vector<Amounts> soon;
  for (const WaitingTask& job : view.jobs) {
    if (!is_running(job) || !job.left || *job.left > view.pause) continue;
    soon.resize(view.nodes.size());
    for (const NodeCount& one : job.placed.workers) {
      add_times(soon[one.node], job.request, one.count);
    }
    for (const NodeCount& one : job.placed.ps) {
      add_times(soon[one.node], job.ps_request, one.count);
    }
  }
  return soon;
}

LeftState left_state(const QueueView& view) {
  LeftState state;
  state.starve_limit = view.starve_limit;
  state.pause = view.pause;
  state.nodes = view.nodes;
  state.totals = view.totals;
  const std::vector<std::optional<double>> left = lefts(view);
  state.soon = soon_free(view);
  for (std::size_t i = 0; i < view.jobs.size(); ++i) {
    const WaitingTask& job = view.jobs[i];
    if (is_fixed(job)) continue;
    state.jobs.push_back({queue_job(job), job.waited, job.served, left[i]});
  }
  return state;
}

bool has_all(const Amounts& cap, const Amounts& request) {
  return std::all_of(request.begin(), request.end(), [&](const auto& asked) {
    return asked.second <= amount_of(cap, asked.first) + Room::kTolerance;
  });
}

// If none of the jobs ran.
const Amounts& most_of(const QueueView& view, std::size_t node) {
  return view.most.empty() ? view.nodes[node].cap : view.most[node];
}

}  // namespace

bool could_ever_fit(const QueueView& view, const WaitingTask& job) {
  const auto holds = [&](const Amounts& request) {
    for (std::size_t node = 0; node < view.nodes.size(); ++node) {
      if (has_all(most_of(view, node), request)) return true;
    }
    return false;
  };
  if (holds(whole_request(job))) return true;
  if (!job.may_spread) return false;
  std::vector<const Amounts*> all;
  for (std::size_t node = 0; node < view.nodes.size(); ++node) all.push_back(&most_of(view, node));
  return could_hold(all, {job.request, job.workers}, {job.ps_request, job.ps});
}

namespace {

// Those that are served after the first one that waits, the last one first; it does not matter that
// one cannot be parked.
std::vector<std::string> givers_by_left(const LeftDecision& decision,
                                        const std::map<std::string, const WaitingTask*>& jobs) {
  const LeftPlace* first = nullptr;
  for (const LeftPlace& place : decision.jobs) {
    if (first == nullptr && place.change == LeftChange::wait) first = &place;
  }
  std::vector<std::pair<double, std::string>> longer;
  for (const auto& [id, job] : jobs) {
    if (first == nullptr || !is_running(*job) || job->is_starved) continue;
    const double left = job->left ? *job->left / job->priority : job->served;
    if (first->is_starved || left > first->left) longer.emplace_back(-left, id);
  }
  std::sort(longer.begin(), longer.end());
  std::vector<std::string> givers;
  for (const auto& [left, id] : longer) givers.push_back(id);
  return givers;
}

// Does one that starts, and may do so there, come to where tasks of it are to leave?
bool makes_way(const QueuePlan& plan, const Placement& before, const Placement& after) {
  const auto leaves = [&](std::size_t node) {
    return count_on(before.workers, node) > count_on(after.workers, node) ||
           count_on(before.ps, node) > count_on(after.ps, node);
  };
  return std::any_of(plan.starts.begin(), plan.starts.end(), [&](const QueuePlan::Start& start) {
    const std::vector<std::size_t> nodes = nodes_of(start.placed);
    return std::any_of(nodes.begin(), nodes.end(), [&](std::size_t node) {
      return leaves(node) && (start.barred.empty() || !start.barred[node]);
    });
  });
}

// The nodes that it may get its room on, as a whole or for one of its tasks.
void bar(const QueueView& view, const WaitingTask& job, std::vector<bool>& barred) {
  barred.resize(view.nodes.size());
  for (std::size_t node = 0; node < view.nodes.size(); ++node) {
    const auto holds = [&](const Amounts& asked) { return has_all(most_of(view, node), asked); };
    const bool takes_part =
        job.may_spread && (holds(job.request) || (job.ps > 0 && holds(job.ps_request)));
    if (takes_part || holds(whole_request(job))) barred[node] = true;
  }
}

Result<QueuePlan> decide_by_left(const QueueView& view) {
  const LeftState state = left_state(view);
  const Result<LeftDecision> decision = decide_left(state);
  if (!decision) return decision.error();
  QueuePlan plan;
  const std::map<std::string, const WaitingTask*> jobs = by_id(view);
  for (const WaitingTask& job : view.jobs) {
    if (is_fixed(job)) plan.standings.push_back({job.id, job.weight, job.is_starved});
  }
  // What runs and stays may keep a starved one from its room for long: nothing new comes before it
  // where it may get that.
  std::vector<bool> barred;
  std::vector<QueuePlan::Standing> waiting;
  for (const LeftPlace& place : decision->jobs) {
    const WaitingTask& job = *jobs.at(place.id);
    (is_running(job) ? plan.standings : waiting)
        .push_back({place.id, job.weight, place.is_starved});
    const bool has_left = barred.empty() || std::count(barred.begin(), barred.end(), false) > 0;
    if (place.change == LeftChange::start && has_left) {
      plan.starts.push_back({place.id, start_of(job, place.placed), barred});
    }
    const bool waits = place.change == LeftChange::wait && place.is_starved;
    if (waits && could_ever_fit(view, job)) bar(view, job, barred);
  }
  // What is to go elsewhere saves itself here first, and starts there when it has come home.
  for (const LeftPlace& place : decision->jobs) {
    const bool leaves = place.change == LeftChange::park || place.change == LeftChange::move ||
                        place.change == LeftChange::resize;
    if (leaves && makes_way(plan, jobs.at(place.id)->placed, place.placed)) {
      plan.parks.push_back(place.id);
    }
  }
  plan.givers = givers_by_left(*decision, jobs);
  plan.standings.insert(plan.standings.end(), waiting.begin(), waiting.end());
  ctrl::policy::add_round(&plan.rounds, state, *decision);
  return plan;
}

// ----------------------------------------------------------------------------- by KOD2's weights

// KOD2's weight with ω' times the priority.
double weight_of(const WaitingTask& task, const LargestNode& largest) {
  const double plain = queue_weight(shape_of(task), largest, WeightBasis::worker);
  if (plain >= 1) return 1;
  return 1 / (1 + std::pow(1 / plain - 1, task.priority));
}

Result<QueuePlan> decide_by_weights(const QueueView& view, const std::vector<double>& weights) {
  QueueState state;
  state.now = view.now;
  state.starve_limit = view.starve_limit;
  state.repeat = true;
  state.nodes = view.nodes;
  std::vector<QueuePlan::Standing> without_host;
  for (std::size_t i = 0; i < view.jobs.size(); ++i) {
    QueueJob job = queue_job(view.jobs[i]);
    job.weight = weights[i];
    // Whoever stands first keeps others from starting.
    if (!is_running(view.jobs[i]) && !could_ever_fit(view, view.jobs[i])) {
      without_host.push_back({job.id, job.weight, view.jobs[i].is_starved});
      continue;
    }
    (is_running(view.jobs[i]) ? state.running : state.waiting).push_back(std::move(job));
  }
  const auto comes_first = [](const QueueJob& a, const QueueJob& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.since < b.since;
  };
  std::stable_sort(state.waiting.begin(), state.waiting.end(), comes_first);
  const Result<QueueDecision> decision = decide_queue(state);
  if (!decision) return decision.error();
  QueuePlan plan;
  const std::map<std::string, const WaitingTask*> jobs = by_id(view);
  for (const QueueAction& action : decision->actions) {
    if (action.op != QueueAction::Op::start) continue;
    plan.starts.push_back({action.job, start_of(*jobs.at(action.job), action.placed)});
  }
  for (const RunningJob& job : decision->running) {
    plan.standings.push_back({job.id, job.weight, job.weight >= 1});
    const bool gives = !decision->waiting.empty() && job.weight < decision->waiting.front().weight;
    if (gives) plan.givers.push_back(job.id);
  }
  // KOD2's Algorithm 2: those of least weight give first.
  std::reverse(plan.givers.begin(), plan.givers.end());
  for (const WaitingJob& job : decision->waiting) {
    plan.standings.push_back({job.id, job.weight, job.weight >= 1});
  }
  plan.standings.insert(plan.standings.end(), without_host.begin(), without_host.end());
  ctrl::policy::add_round(&plan.rounds, state, *decision);
  return plan;
}

Result<QueuePlan> decide_by_kod2(const QueueView& view) {
  const LargestNode largest = largest_of(view.nodes);
  std::vector<double> weights;
  weights.reserve(view.jobs.size());
  for (const WaitingTask& job : view.jobs) {
    weights.push_back(job.weight > 0 ? job.weight : weight_of(job, largest));
  }
  return decide_by_weights(view, weights);
}

// Where all have weight 1 the first of the queue alone may start, and none is starved.
Result<QueuePlan> decide_by_arrival(const QueueView& view) {
  return decide_by_weights(view, std::vector<double>(view.jobs.size(), 1));
}

}  // namespace

bool is_running(const WaitingTask& job) { return !nodes_of(job.placed).empty(); }

std::vector<std::size_t> nodes_of(const Placement& placed) {
  std::vector<NodeCount> all = placed.workers;
  for (const NodeCount& ps : placed.ps) put_one(all, ps.node);
  std::vector<std::size_t> nodes;
  nodes.reserve(all.size());
  for (const NodeCount& one : all) nodes.push_back(one.node);
  return nodes;
}

Amounts sum_of(const WaitingTask& job, std::int64_t workers, std::int64_t ps) {
  Amounts all = job.request;
  for (auto& [kind, amount] : all) {
    amount = amount * static_cast<double>(workers) +
             amount_of(job.ps_request, kind) * static_cast<double>(ps);
  }
  if (ps == 0) return all;
  for (const auto& [kind, amount] : job.ps_request) {
    const auto is_it = [&name = kind](const auto& one) { return one.first == name; };
    if (std::none_of(job.request.begin(), job.request.end(), is_it)) {
      all.emplace_back(kind, amount * static_cast<double>(ps));
    }
  }
  return all;
}

Placement whole_on(std::size_t node, const WaitingTask& job) {
  Placement placed;
  placed.workers.push_back({node, job.workers});
  if (job.ps > 0) placed.ps.push_back({node, job.ps});
  return placed;
}

const std::vector<QueuePolicyKind>& queue_policies() {
  static const std::vector<QueuePolicyKind> all{
      {"left",
       "least remaining time first, jobs that have waited longer than starve-limit before all "
       "others",
       decide_by_left},
      {"kod2", "greatest KOD2 weight first (small requests weigh more)", decide_by_kod2, true},
      {"fifo", "in order of submission", decide_by_arrival, true},
  };
  return all;
}

const QueuePolicyKind* find_queue_policy(std::string_view name) {
  const auto& all = queue_policies();
  const auto found = std::find_if(
      all.begin(), all.end(), [name](const QueuePolicyKind& kind) { return kind.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace flowcon::cluster::policy
