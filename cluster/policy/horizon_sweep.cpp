// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/horizon_sweep.h"

#include <algorithm>
#include <cstddef>
#include <queue>
#include <utility>

namespace flowcon::cluster::policy::horizon {
namespace {

// Cells of one knapsack, beyond which nodes are given greedily; and of all that a Sweeper solves
// (about 0.2 s; 110 jobs on 190 nodes take 2 million).
constexpr std::int64_t kMostCells = 4'000'000;
constexpr std::int64_t kMostWork = 100'000'000;

}  // namespace

Sweeper::Sweeper(const Model& model) : model_(model), spare_(model.nodes) {
  for (const Job& job : model.jobs) {
    spare_ -= job.numbers.front();
    worth_.emplace_back(job.numbers.size());
    evaluation_ += static_cast<std::int64_t>(job.numbers.size()) * model.steps;
  }
}

Plan Sweeper::least() const {
  Plan plan;
  plan.choices.assign(model_.jobs.size() * static_cast<std::size_t>(model_.steps), 0);
  plan.value = value_of(model_, plan);
  return plan;
}

// What worth_ chooses, in every step.
Plan Sweeper::constant() {
  choose();
  Plan plan;
  for (const Choice choice : chosen_) {
    plan.choices.insert(plan.choices.end(), static_cast<std::size_t>(model_.steps), choice);
  }
  plan.value = value_of(model_, plan);
  return plan;
}

Plan Sweeper::uncapped(double& bound) {
  for (std::size_t i = 0; i < worth_.size(); ++i) worth_[i] = model_.jobs[i].gain;
  Plan plan = constant();
  // A greedy choice bounds nothing; what everybody gains with the most nodes does.
  double step = 0;
  for (std::size_t i = 0; i < worth_.size(); ++i) {
    step +=
        is_exact() ? worth_[i][chosen_[i]] : *std::max_element(worth_[i].begin(), worth_[i].end());
  }
  bound = step * model_.steps * (model_.steps + 1) / 2;
  return plan;
}

bool Sweeper::is_exact() const {
  return static_cast<std::int64_t>(worth_.size()) * (spare_ + 1) <= kMostCells;
}

// One step's knapsack: chosen_ of worth_.
void Sweeper::choose() {
  if (!is_exact()) return choose_greedily();
  knapsack_.reset(spare_);
  for (std::size_t i = 0; i < worth_.size(); ++i) {
    knapsack_.add(model_.jobs[i].numbers, worth_[i].data());
  }
  work_ += static_cast<std::int64_t>(worth_.size()) * (spare_ + 1);
  knapsack_.choose(spare_, chosen_);
}

// Most worth a node first.
void Sweeper::choose_greedily() {
  struct Raise {
    double rate = 0;
    std::size_t job = 0;
    Choice to = 0;
    bool operator<(const Raise& other) const {
      return rate != other.rate ? rate < other.rate : job > other.job;
    }
  };
  chosen_.assign(worth_.size(), 0);
  int spare = spare_;
  std::priority_queue<Raise> raises;
  const auto nodes_of = [&](const Raise& raise) {
    const std::vector<int>& numbers = model_.jobs[raise.job].numbers;
    return numbers[raise.to] - numbers[chosen_[raise.job]];
  };
  const auto offer = [&](std::size_t i) {
    const std::size_t from = chosen_[i];
    Raise best{0, i, chosen_[i]};
    for (std::size_t k = from + 1; k < worth_[i].size(); ++k) {
      Raise raise{0, i, static_cast<Choice>(k)};
      raise.rate = (worth_[i][k] - worth_[i][from]) / nodes_of(raise);
      if (nodes_of(raise) <= spare && raise.rate > best.rate) best = raise;
    }
    if (best.to != from) raises.push(best);
  };
  for (std::size_t i = 0; i < worth_.size(); ++i) offer(i);
  while (!raises.empty()) {
    const Raise raise = raises.top();
    raises.pop();
    if (nodes_of(raise) <= spare) {
      spare -= nodes_of(raise);
      chosen_[raise.job] = raise.to;
    }
    offer(raise.job);
  }
}

bool Sweeper::improve(Plan& plan, int step) {
  const auto steps = static_cast<std::size_t>(model_.steps);
  const auto at = static_cast<std::size_t>(step);
  double before = 0;
  for (std::size_t i = 0; i < worth_.size(); ++i) {
    Choice* const choices = plan.choices.data() + i * steps;
    const Choice own = choices[at];
    for (std::size_t k = 0; k < worth_[i].size(); ++k) {
      choices[at] = static_cast<Choice>(k);
      worth_[i][k] = value_of(model_, model_.jobs[i], choices);
    }
    choices[at] = own;
    before += worth_[i][own];
  }
  work_ += evaluation_;
  choose();
  double after = 0;
  for (std::size_t i = 0; i < worth_.size(); ++i) after += worth_[i][chosen_[i]];
  if (!(after > before + kRounding)) return false;
  for (std::size_t i = 0; i < worth_.size(); ++i) plan.choices[i * steps + at] = chosen_[i];
  return true;
}

void Sweeper::sweep(Plan& plan, bool is_backward) {
  int still = 0;  // steps in a row that could not be better
  for (int t = 0; still < model_.steps && work_ < kMostWork; t = (t + 1) % model_.steps) {
    still = improve(plan, is_backward ? model_.steps - 1 - t : t) ? 1 : still + 1;
  }
  plan.value = value_of(model_, plan);
}

Plan Sweeper::best_of_starts() {
  std::vector<Choice> alike;
  for (std::size_t i = 0; i < worth_.size(); ++i) {
    for (std::size_t k = 0; k < worth_[i].size(); ++k) {
      alike.assign(static_cast<std::size_t>(model_.steps), static_cast<Choice>(k));
      worth_[i][k] = value_of(model_, model_.jobs[i], alike.data());
    }
  }
  Plan best = constant();
  sweep(best, false);
  for (const bool is_backward : {false, true}) {
    Plan plan = least();
    sweep(plan, is_backward);
    if (plan.value > best.value + kRounding) best = std::move(plan);
  }
  return best;
}

}  // namespace flowcon::cluster::policy::horizon
