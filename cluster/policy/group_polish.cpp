// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/group_polish.h"

#include <algorithm>

namespace flowcon::cluster::policy {
namespace {

constexpr double kLeastGain = 1e-9;
constexpr std::uint32_t kNobody = Planner::kNowhere;

}  // namespace

Polish::Polish(Planner& planner, std::int64_t most_looks)
    : planner_(planner),
      model_(planner.model()),
      most_looks_(most_looks),
      row_(planner.model().kinds) {}

void Polish::better(GroupPlan& plan) {
  plan_ = &plan;
  tally();
  const std::vector<std::uint32_t>& tasks = planner_.tasks();
  bool has_changed = true;
  while (has_changed) {
    has_changed = false;
    for (const std::uint32_t task : tasks) has_changed |= try_moves(task);
    for (std::size_t i = 0; i < tasks.size(); ++i) has_changed |= try_swaps(i);
    if (planner_.looks() > most_looks_) break;
  }
  planner_.evaluate(plan);
}

void Polish::shake(GroupPlan& plan, int tries, Random& random) {
  plan_ = &plan;
  tally();
  const std::vector<std::uint32_t>& tasks = planner_.tasks();
  for (int i = 0; i < tries; ++i) {
    const std::uint32_t task = tasks[random.below(tasks.size())];
    const std::uint32_t other = tasks[random.below(tasks.size())];
    const auto node = static_cast<std::uint32_t>(random.below(planner_.nodes()));
    planner_.count(2);
    if (may_swap(task, other)) {
      relocate(task, plan.node_of[other], other);
    } else if (may_go(task, node)) {
      relocate(task, node, kNobody);
    }
  }
}

// What goes with the nodes: jobs and GPUs on each.
void Polish::tally() {
  gpus_.assign(planner_.nodes(), 0);
  jobs_.assign(planner_.nodes(), 0);
  counts_.assign(planner_.nodes(), 0);
  for (const std::uint32_t task : planner_.tasks()) {
    const std::uint32_t node = plan_->node_of[task];
    gpus_[node] += model_.tasks[task].gpus;
    ++counts_[node];
    const std::vector<std::size_t>& own = model_.jobs[model_.tasks[task].job];
    const auto first = std::find_if(
        own.begin(), own.end(), [&](std::size_t other) { return plan_->node_of[other] == node; });
    if (*first == task) jobs_[node] += 1;
  }
}

bool Polish::try_moves(std::uint32_t task) {
  if (planner_.looks() > most_looks_) return false;
  const std::size_t job_size = model_.jobs[model_.tasks[task].job].size();
  planner_.count(planner_.nodes() * (1 + job_size));
  std::uint32_t best = kNobody;
  double most = kLeastGain;
  for (std::uint32_t node = 0; node < planner_.nodes(); ++node) {
    if (!may_go(task, node)) continue;
    const double gain = gain_of_move(task, node);
    if (!(gain > most)) continue;
    most = gain;
    best = node;
  }
  return best != kNobody && relocate(task, best, kNobody);
}

bool Polish::try_swaps(std::size_t from) {
  if (planner_.looks() > most_looks_) return false;
  const std::vector<std::uint32_t>& tasks = planner_.tasks();
  const std::uint32_t task = tasks[from];
  const std::size_t job_size = model_.jobs[model_.tasks[task].job].size();
  planner_.count((tasks.size() - from) * (1 + job_size));
  std::uint32_t best = kNobody;
  double most = kLeastGain;
  for (std::size_t i = from + 1; i < tasks.size(); ++i) {
    if (!may_swap(task, tasks[i])) continue;
    const double gain = gain_of_swap(task, tasks[i]);
    if (!(gain > most)) continue;
    most = gain;
    best = tasks[i];
  }
  return best != kNobody && relocate(task, plan_->node_of[best], best);
}

bool Polish::may_go(std::uint32_t task, std::uint32_t node) const {
  const std::uint32_t from = plan_->node_of[task];
  if (node == from) return false;
  if (model_.nodes[node].domain != model_.nodes[from].domain &&
      model_.jobs[model_.tasks[task].job].size() > 1) {
    return false;
  }
  return model_.fits(node, plan_->put.data() + node * model_.kinds, model_.tasks[task].needs);
}

bool Polish::may_swap(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t at_a = plan_->node_of[a];
  const std::uint32_t at_b = plan_->node_of[b];
  if (at_a == at_b) return false;
  if (model_.nodes[at_a].domain != model_.nodes[at_b].domain &&
      (model_.jobs[model_.tasks[a].job].size() > 1 ||
       model_.jobs[model_.tasks[b].job].size() > 1)) {
    return false;
  }
  return fits_instead(a, b) && fits_instead(b, a);
}

bool Polish::fits_instead(std::uint32_t task, std::uint32_t other) {
  const std::uint32_t node = plan_->node_of[other];
  std::copy_n(plan_->put.begin() + static_cast<std::ptrdiff_t>(node * model_.kinds), model_.kinds,
              row_.begin());
  for (const Need& need : model_.tasks[other].needs) row_[need.kind] -= need.amount;
  return model_.fits(node, row_.data(), model_.tasks[task].needs);
}

Polish::Shift Polish::shift(std::uint32_t task, std::uint32_t to, std::uint32_t except) const {
  Shift shift;
  const std::uint32_t from = plan_->node_of[task];
  const bool is_ps = model_.tasks[task].is_ps;
  const std::size_t job = model_.tasks[task].job;
  for (const std::size_t other : model_.jobs[job]) {
    if (other == task || other == except) continue;
    const std::uint32_t at = plan_->node_of[other];
    if (at == from) shift.leaves = false;
    if (at == to) shift.enters = false;
    if (model_.tasks[other].is_ps != is_ps) {
      shift.cost += model_.cost(job, to, at) - model_.cost(job, from, at);
    }
  }
  return shift;
}

// What a node adds to the fitness of a plan, but for the cost of pairs.
double Polish::value(std::uint32_t node, double jobs, double gpus) const {
  return -(1 - model_.lambda) * jobs * model_.fitness(node, gpus);
}

double Polish::gain_of_move(std::uint32_t task, std::uint32_t node) const {
  const std::uint32_t from = plan_->node_of[task];
  const double gpus = model_.tasks[task].gpus;
  const Shift moved = shift(task, node, kNobody);
  double gain = -model_.lambda * moved.cost;
  gain += value(from, jobs_[from] - (moved.leaves ? 1 : 0), gpus_[from] - gpus) -
          value(from, jobs_[from], gpus_[from]);
  gain += value(node, jobs_[node] + (moved.enters ? 1 : 0), gpus_[node] + gpus) -
          value(node, jobs_[node], gpus_[node]);
  gain += (counts_[from] == 1 ? 1 : 0) - (counts_[node] == 0 ? 1 : 0);
  return gain;
}

double Polish::gain_of_swap(std::uint32_t a, std::uint32_t b) const {
  const std::uint32_t at_a = plan_->node_of[a];
  const std::uint32_t at_b = plan_->node_of[b];
  const double gpus = model_.tasks[b].gpus - model_.tasks[a].gpus;
  const Shift first = shift(a, at_b, b);
  const Shift second = shift(b, at_a, a);
  double more_a = 0;  // jobs
  double more_b = 0;
  if (model_.tasks[a].job != model_.tasks[b].job) {
    more_a = (second.enters ? 1 : 0) - (first.leaves ? 1 : 0);
    more_b = (first.enters ? 1 : 0) - (second.leaves ? 1 : 0);
  }
  double gain = -model_.lambda * (first.cost + second.cost);
  gain +=
      value(at_a, jobs_[at_a] + more_a, gpus_[at_a] + gpus) - value(at_a, jobs_[at_a], gpus_[at_a]);
  gain +=
      value(at_b, jobs_[at_b] + more_b, gpus_[at_b] - gpus) - value(at_b, jobs_[at_b], gpus_[at_b]);
  return gain;
}

// The task to a node, and where there is a second one, that one to its old node. Not done where
// sums made anew say that it does not fit.
bool Polish::relocate(std::uint32_t a, std::uint32_t to, std::uint32_t b) {
  const std::uint32_t from = plan_->node_of[a];
  plan_->node_of[a] = to;
  if (b != kNobody) plan_->node_of[b] = from;
  if (!planner_.sum_up(*plan_, to) || !planner_.sum_up(*plan_, from)) {
    plan_->node_of[a] = from;
    if (b != kNobody) plan_->node_of[b] = to;
    (void)planner_.sum_up(*plan_, to);
    (void)planner_.sum_up(*plan_, from);
    return false;
  }
  if (counts_[to] == 0) plan_->groups.push_back(to);
  if (counts_[from] == 1 && b == kNobody) std::erase(plan_->groups, from);
  tally();
  return true;
}

}  // namespace flowcon::cluster::policy
