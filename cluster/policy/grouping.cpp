// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/grouping.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "cluster/policy/group_polish.h"

namespace flowcon::cluster::policy {
namespace {

constexpr std::size_t kPopulation = 60;
constexpr int kStarts = 200;  // tries to fill it
constexpr std::int64_t kStartLooks = 20'000'000;
constexpr std::int64_t kSearchLooks = 2'000'000;  // for any plan, where no start gave one
constexpr std::size_t kMostSearched = 1000;       // tasks: a step of recursion each
constexpr std::int64_t kEvolveLooks = 200'000'000;
constexpr std::int64_t kFinishLooks = 100'000'000;
constexpr std::int64_t kFinishRounds = 4000;
constexpr std::size_t kPolished = 12;  // of the population, at the end
constexpr double kSameFitness = 1e-9;
constexpr double kEnumerated = 10;  // plans cost as much as one that is bred

}  // namespace

Grouping::Grouping(const PlaceModel& model, std::size_t jobs, std::uint64_t seed,
                   std::int64_t plans)
    : model_(model), plans_(plans), planner_(model, jobs), random_(seed) {}

std::optional<GroupPlan> Grouping::any() {
  if (!may_have_room()) return std::nullopt;
  for (int i = 0; i < kStarts && !has_few_plans() && planner_.looks() < part(kStartLooks); ++i) {
    if (auto plan = fitted(i % 2 == 1)) return plan;
  }
  if (planner_.tasks().size() > kMostSearched) return std::nullopt;
  return search(false);
}

GroupPlan Grouping::best(const GroupPlan& first) {
  // Sums in another order may differ by a rounding: then only the first plan may fit.
  if (has_few_plans()) return search(true).value_or(first);
  add(first);
  start();
  evolve();
  finish();
  return population_.front();
}

template <class Item>
void Grouping::shuffle(std::vector<Item>& items) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[drawn(i)]);
}

// False where all nodes together have less than the tasks ask for, or none has what one asks.
bool Grouping::may_have_room() const {
  const std::vector<double> nothing(model_.kinds, 0);
  std::vector<double> asked(model_.kinds, 0);
  for (const std::uint32_t task : planner_.tasks()) {
    const Needs& needs = model_.tasks[task].needs;
    std::size_t node = 0;
    while (node < planner_.nodes() && !model_.fits(node, nothing.data(), needs)) ++node;
    if (node == planner_.nodes()) return false;
    for (const Need& need : needs) asked[need.kind] += need.amount;
  }
  for (std::size_t kind = 0; kind < model_.kinds; ++kind) {
    double idle = 0;
    for (std::size_t node = 0; node < planner_.nodes(); ++node) {
      const std::size_t at = node * model_.kinds + kind;
      idle += std::max(model_.cap[at] + PlaceModel::kTolerance - model_.used[at], 0.0);
    }
    if (asked[kind] > idle * (1 + 1e-12)) return false;
  }
  return true;
}

bool Grouping::has_few_plans() const {
  if (planner_.tasks().size() > kMostSearched) return false;
  const double most = kEnumerated * static_cast<double>(plans_);
  double plans = 1;
  for (std::size_t i = 0; i < planner_.tasks().size() && plans <= most; ++i) {
    plans *= static_cast<double>(planner_.nodes());
  }
  return plans <= most;
}

// The best of all plans, or any plan, by trying each node for each task. Those of a job follow one
// another, the jobs and tasks that ask for most first.
std::optional<GroupPlan> Grouping::search(bool is_whole) {
  const auto share = [this](std::size_t task) {
    double sum = 0;
    for (const Need& need : model_.tasks[task].needs) {
      double most = 0;
      for (std::size_t node = 0; node < planner_.nodes(); ++node) {
        most = std::max(most, model_.cap[node * model_.kinds + need.kind]);
      }
      sum += need.amount / most;
    }
    return sum;
  };
  std::vector<double> of_job(planner_.jobs(), 0);
  std::vector<double> of_task(model_.tasks.size(), 0);
  for (const std::uint32_t task : planner_.tasks()) {
    of_task[task] = share(task);
    of_job[model_.tasks[task].job] += of_task[task];
  }
  order_ = planner_.tasks();
  std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t task) {
      const std::size_t job = model_.tasks[task].job;
      return std::tuple(-of_job[job], job, -of_task[task], task);
    };
    return key(a) < key(b);
  });
  found_.reset();
  most_looks_ = planner_.looks() + part(kSearchLooks);
  GroupPlan plan = planner_.empty_plan();
  search_on(plan, 0, is_whole);
  return std::move(found_);
}

void Grouping::search_on(GroupPlan& plan, std::size_t depth, bool is_whole) {
  if (depth == order_.size()) {
    planner_.evaluate(plan);
    if (!found_ || plan.fitness > found_->fitness) found_ = plan;
    return;
  }
  const std::uint32_t task = order_[depth];
  const std::size_t kinds = model_.kinds;
  std::vector<std::uint32_t> tried;
  for (std::uint32_t node = 0; node < planner_.nodes(); ++node) {
    if (!is_whole && (found_ || planner_.looks() > most_looks_)) return;
    planner_.count(1 + (is_whole ? 0 : tried.size()));
    if (!planner_.may_put(plan, task, node)) continue;
    // Nodes that have the same left are one, where any plan will do.
    const auto is_like = [&](std::uint32_t other) {
      if (model_.nodes[node].domain != model_.nodes[other].domain) return false;
      for (std::size_t at = node * kinds, as = other * kinds; at < (node + 1) * kinds; ++at, ++as) {
        if (model_.cap[at] - model_.used[at] - plan.put[at] !=
            model_.cap[as] - model_.used[as] - plan.put[as]) {
          return false;
        }
      }
      return true;
    };
    if (!is_whole && std::any_of(tried.begin(), tried.end(), is_like)) continue;
    tried.push_back(node);
    const auto row = plan.put.begin() + static_cast<std::ptrdiff_t>(node * kinds);
    const std::vector<double> before(row, row + static_cast<std::ptrdiff_t>(kinds));
    const std::size_t groups = plan.groups.size();
    planner_.put(plan, task, node);
    search_on(plan, depth + 1, is_whole);
    plan.groups.resize(groups);
    plan.node_of[task] = Planner::kNowhere;
    std::copy(before.begin(), before.end(), row);
  }
}

void Grouping::start() {
  for (int i = 0; i < kStarts && population_.size() < kPopulation; ++i) {
    if (planner_.looks() > part(kStartLooks)) break;
    if (auto plan = fitted(i % 2 == 1)) add(std::move(*plan));
  }
}

// First-fit, or at random, over shuffled tasks and nodes; every other time job by job.
std::optional<GroupPlan> Grouping::fitted(bool at_random) {
  GroupPlan plan = planner_.empty_plan();
  std::vector<std::uint32_t> tasks = planner_.tasks();
  shuffle(tasks);
  if (drawn(2) == 0) {
    std::vector<std::size_t> rank(planner_.jobs());
    for (std::size_t i = 0; i < rank.size(); ++i) rank[i] = i;
    shuffle(rank);
    std::stable_sort(tasks.begin(), tasks.end(), [&](std::uint32_t a, std::uint32_t b) {
      return rank[model_.tasks[a].job] < rank[model_.tasks[b].job];
    });
  }
  std::vector<std::uint32_t> nodes(planner_.nodes());
  for (std::uint32_t i = 0; i < nodes.size(); ++i) nodes[i] = i;
  shuffle(nodes);
  for (const std::uint32_t task : tasks) {
    planner_.count(nodes.size());
    if (at_random) {
      if (!random_fit(plan, task)) return std::nullopt;
      continue;
    }
    const auto node = std::find_if(nodes.begin(), nodes.end(), [&](std::uint32_t each) {
      return planner_.may_put(plan, task, each);
    });
    if (node == nodes.end()) return std::nullopt;
    planner_.put(plan, task, *node);
  }
  return plan;
}

bool Grouping::random_fit(GroupPlan& plan, std::uint32_t task) {
  const std::size_t from = drawn(planner_.nodes());
  for (std::size_t i = 0; i < planner_.nodes(); ++i) {
    const auto node = static_cast<std::uint32_t>((from + i) % planner_.nodes());
    if (!planner_.may_put(plan, task, node)) continue;
    planner_.put(plan, task, node);
    return true;
  }
  return false;
}

// A plan that is there already is not added: one of each fitness is enough.
void Grouping::add(GroupPlan plan) {
  planner_.evaluate(plan);
  for (const GroupPlan& other : population_) {
    if (std::abs(other.fitness - plan.fitness) <= kSameFitness) return;
  }
  if (population_.size() < kPopulation) {
    population_.push_back(std::move(plan));
    return;
  }
  const std::size_t worst = tournament(true);
  if (plan.fitness > population_[worst].fitness) population_[worst] = std::move(plan);
}

// The best of three, or the worst, so that the best one is never lost.
std::size_t Grouping::tournament(bool for_worst) {
  std::size_t winner = drawn(population_.size());
  for (int i = 0; i < 2; ++i) {
    const std::size_t other = drawn(population_.size());
    const bool is_better = population_[other].fitness > population_[winner].fitness;
    if (other != winner && is_better != for_worst) winner = other;
  }
  return winner;
}

void Grouping::evolve() {
  for (std::int64_t i = 0; i < plans_ && planner_.looks() < part(kEvolveLooks); ++i) {
    const GroupPlan& one = population_[tournament(false)];
    const GroupPlan& other = population_[tournament(false)];
    auto child = &one != &other ? crossed(one, other) : std::nullopt;
    if (child && drawn(4) != 0) {
      add(std::move(*child));
      continue;
    }
    if (auto changed = dissolved(child ? *child : one, 1)) add(std::move(*changed));
  }
}

// A node of one plan with its tasks into the other. There the nodes that hold one of these, or
// another task of their jobs in a second domain, are dissolved, and the node itself; what is loose
// then goes to where it fits first.
std::optional<GroupPlan> Grouping::crossed(const GroupPlan& from, const GroupPlan& into) {
  const std::uint32_t node = from.groups[drawn(from.groups.size())];
  GroupPlan plan = into;
  std::vector<std::uint32_t> loose;
  std::vector<std::uint32_t> moved;
  const auto dissolve = [&](std::uint32_t at) {
    if (at != Planner::kNowhere) planner_.dissolve(plan, at, loose);
  };
  dissolve(node);
  for (const std::uint32_t task : planner_.tasks()) {
    if (from.node_of[task] != node) continue;
    moved.push_back(task);
    dissolve(plan.node_of[task]);
    if (model_.domains.size() == 1) continue;
    for (const std::size_t other : model_.jobs[model_.tasks[task].job]) {
      const std::uint32_t at = plan.node_of[other];
      if (at != Planner::kNowhere && model_.nodes[at].domain != model_.nodes[node].domain) {
        dissolve(at);
      }
    }
  }
  for (const std::uint32_t task : moved) planner_.put(plan, task, node);
  std::swap(plan.groups.back(), plan.groups[drawn(plan.groups.size())]);
  std::erase_if(loose, [&](std::uint32_t task) { return plan.node_of[task] != Planner::kNowhere; });
  shuffle(loose);
  if (!planner_.first_fit(plan, loose, Planner::kNowhere)) return std::nullopt;
  return plan;
}

// Nodes dissolved, their tasks elsewhere.
std::optional<GroupPlan> Grouping::dissolved(const GroupPlan& from, std::size_t groups) {
  GroupPlan plan = from;
  std::vector<std::uint32_t> loose;
  std::uint32_t node = Planner::kNowhere;
  for (std::size_t i = 0; i < groups && !plan.groups.empty(); ++i) {
    node = plan.groups[drawn(plan.groups.size())];
    planner_.dissolve(plan, node, loose);
  }
  shuffle(loose);
  shuffle(plan.groups);
  if (!planner_.first_fit(plan, loose, node)) return std::nullopt;
  return plan;
}

// Jobs taken out, their tasks anywhere.
std::optional<GroupPlan> Grouping::without_jobs(const GroupPlan& from, std::size_t jobs) {
  GroupPlan plan = from;
  std::vector<std::uint32_t> loose;
  for (std::size_t i = 0; i < jobs; ++i) {
    for (const std::size_t number : model_.jobs[drawn(planner_.jobs())]) {
      const std::uint32_t node = plan.node_of[number];
      if (node == Planner::kNowhere) continue;
      loose.push_back(static_cast<std::uint32_t>(number));
      plan.node_of[number] = Planner::kNowhere;
      if (!planner_.sum_up(plan, node)) return std::nullopt;
    }
  }
  std::erase_if(plan.groups, [&](std::uint32_t node) {
    return std::find(plan.node_of.begin(), plan.node_of.end(), node) == plan.node_of.end();
  });
  planner_.count(plan.groups.size() * plan.node_of.size());
  shuffle(loose);
  for (const std::uint32_t task : loose) {
    planner_.count(planner_.nodes());
    if (!random_fit(plan, task)) return std::nullopt;
  }
  return plan;
}

// The best ones bettered; then the best one shaken and bettered again. It is the first, at last.
void Grouping::finish() {
  const auto is_better = [](const GroupPlan& a, const GroupPlan& b) {
    return a.fitness > b.fitness;
  };
  std::stable_sort(population_.begin(), population_.end(), is_better);
  Polish polish(planner_, planner_.looks() + part(kFinishLooks));
  const std::int64_t end = planner_.looks() + part(kFinishLooks);
  if (population_.size() > kPolished) population_.resize(kPolished);
  for (GroupPlan& plan : population_) polish.better(plan);
  std::stable_sort(population_.begin(), population_.end(), is_better);
  GroupPlan best = population_.front();
  for (std::int64_t i = 0; i < part(kFinishRounds) && planner_.looks() < end; ++i) {
    const GroupPlan& from = population_[drawn(population_.size())];
    std::optional<GroupPlan> shaken;
    const std::size_t how = drawn(3);
    if (how == 0) shaken = dissolved(from, 1 + drawn(3));
    if (how == 1) shaken = without_jobs(from, 1 + drawn(2));
    if (!shaken) {
      shaken = from;
      polish.shake(*shaken, 4 << drawn(4), random_);
    }
    polish.better(*shaken);
    if (shaken->fitness > best.fitness) best = *shaken;
    const std::size_t rival = drawn(population_.size());
    if (shaken->fitness > population_[rival].fitness) population_[rival] = std::move(*shaken);
  }
  population_.front() = std::move(best);
}

}  // namespace flowcon::cluster::policy
