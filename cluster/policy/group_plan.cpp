// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/group_plan.h"

#include <algorithm>

namespace flowcon::cluster::policy {

Planner::Planner(const PlaceModel& model, std::size_t jobs)
    : model_(model),
      jobs_(jobs),
      gpus_(model.nodes.size(), 0),
      on_node_(model.nodes.size()),
      in_rack_(model.racks) {
  for (std::size_t task = 0; task < model.tasks.size(); ++task) {
    if (model.tasks[task].job < jobs) tasks_.push_back(static_cast<std::uint32_t>(task));
  }
}

GroupPlan Planner::empty_plan() const {
  GroupPlan plan;
  plan.node_of.assign(model_.tasks.size(), kNowhere);
  plan.put.assign(nodes() * model_.kinds, 0);
  return plan;
}

bool Planner::may_put(const GroupPlan& plan, std::uint32_t task, std::uint32_t node) const {
  const PlaceModel::Task& it = model_.tasks[task];
  if (!model_.fits(node, plan.put.data() + node * model_.kinds, it.needs)) return false;
  if (model_.domains.size() == 1) return true;
  for (const std::size_t other : model_.jobs[it.job]) {
    const std::uint32_t at = plan.node_of[other];
    if (at != kNowhere && other != task)
      return model_.nodes[at].domain == model_.nodes[node].domain;
  }
  return true;
}

void Planner::put(GroupPlan& plan, std::uint32_t task, std::uint32_t node) const {
  if (std::find(plan.groups.begin(), plan.groups.end(), node) == plan.groups.end()) {
    plan.groups.push_back(node);
  }
  plan.node_of[task] = node;
  for (const Need& need : model_.tasks[task].needs) {
    plan.put[node * model_.kinds + need.kind] += need.amount;
  }
}

void Planner::dissolve(GroupPlan& plan, std::uint32_t node,
                       std::vector<std::uint32_t>& loose) const {
  for (const std::uint32_t task : tasks_) {
    if (plan.node_of[task] != node) continue;
    plan.node_of[task] = kNowhere;
    loose.push_back(task);
  }
  std::fill_n(plan.put.begin() + static_cast<std::ptrdiff_t>(node * model_.kinds), model_.kinds, 0);
  std::erase(plan.groups, node);
  count(tasks_.size());
}

bool Planner::first_fit(GroupPlan& plan, const std::vector<std::uint32_t>& loose,
                        std::uint32_t avoided) const {
  const auto place = [&](std::uint32_t task) {
    for (const std::uint32_t node : plan.groups) {
      if (node == avoided || !may_put(plan, task, node)) continue;
      put(plan, task, node);
      return true;
    }
    for (std::uint32_t node = 0; node < nodes(); ++node) {
      if (node == avoided || !may_put(plan, task, node)) continue;
      put(plan, task, node);
      return true;
    }
    return false;
  };
  for (const std::uint32_t task : loose) {
    count(nodes());
    if (!place(task)) return false;
  }
  return true;
}

bool Planner::sum_up(GroupPlan& plan, std::uint32_t node) const {
  double* row = plan.put.data() + node * model_.kinds;
  std::fill_n(row, model_.kinds, 0);
  count(tasks_.size());
  for (const std::uint32_t task : tasks_) {
    if (plan.node_of[task] != node) continue;
    const Needs& needs = model_.tasks[task].needs;
    if (!model_.fits(node, row, needs)) return false;
    for (const Need& need : needs) row[need.kind] += need.amount;
  }
  return true;
}

// Of one more task of a job on a node, with those on its nodes so far.
double Planner::link_cost(std::size_t job, std::uint32_t node, bool is_ps) const {
  double cost = 0;
  count(own_nodes_.size());
  for (const std::uint32_t own : own_nodes_) {
    const double others = is_ps ? on_node_[own].workers : on_node_[own].ps;
    if (others > 0) cost += others * model_.cost(job, node, own);
  }
  return cost;
}

void Planner::evaluate(GroupPlan& plan) {
  count(2 * tasks_.size());
  for (const std::uint32_t node : plan.groups) gpus_[node] = 0;
  for (const std::uint32_t task : tasks_) gpus_[plan.node_of[task]] += model_.tasks[task].gpus;
  plan.score = 0;
  for (std::size_t job = 0; job < jobs_; ++job) {
    double cost = 0;
    double fitness = 0;
    Roles placed;
    own_nodes_.clear();
    for (const std::size_t number : model_.jobs[job]) {
      const std::uint32_t node = plan.node_of[number];
      const PlaceModel::Node& at = model_.nodes[node];
      const bool is_ps = model_.tasks[number].is_ps;
      Roles& here = on_node_[node];
      Roles& rack = in_rack_[at.rack];
      const auto others = [is_ps](const Roles& roles) { return is_ps ? roles.workers : roles.ps; };
      cost += model_.has_links() ? link_cost(job, node, is_ps)
                                 : (others(rack) - others(here)) * at.rack_cost +
                                       (others(placed) - others(rack)) * at.domain_cost;
      if (here.ps + here.workers == 0) {
        fitness += model_.fitness(node, gpus_[node]);
        own_nodes_.push_back(node);
      }
      for (Roles* roles : {&here, &rack, &placed}) (is_ps ? roles->ps : roles->workers) += 1;
    }
    for (const std::size_t number : model_.jobs[job]) {
      const std::uint32_t node = plan.node_of[number];
      on_node_[node] = in_rack_[model_.nodes[node].rack] = {};
    }
    plan.score += model_.score(cost, fitness);
  }
  plan.fitness = -plan.score - static_cast<double>(plan.groups.size());
}

}  // namespace flowcon::cluster::policy
