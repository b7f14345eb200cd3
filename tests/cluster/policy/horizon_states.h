// SPDX-License-Identifier: Apache-2.0
// Small random states of the rolling horizon, and their optimum by enumeration: every plan of every
// job, joined over the nodes used in each step.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "cluster/policy/horizon.h"

namespace flowcon::test {

using cluster::policy::HorizonJob;
using cluster::policy::HorizonState;

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  int upto(int least, int most) {
    return least + static_cast<int>(random_() % static_cast<unsigned>(most - least + 1));
  }
  double share() { return static_cast<double>(random_() % 1'000'000) / 1e6; }
  bool one_in(int n) { return upto(1, n) == 1; }

 private:
  std::mt19937 random_;
};

inline HorizonState random_state(Dice& dice, bool has_options) {
  static constexpr int kNodes[] = {16, 10, 7};
  static constexpr int kJobs[] = {6, 4, 3};
  HorizonState state;
  state.steps = dice.upto(1, 3);
  state.nodes = dice.upto(1, kNodes[state.steps - 1]);
  state.minutes = dice.one_in(2) ? 5 : 60;
  state.allow_zero = has_options && dice.one_in(2);
  if (has_options && dice.one_in(2)) state.pause = dice.one_in(2) ? 30 : 600;
  const int jobs = dice.upto(1, kJobs[state.steps - 1]);
  for (int i = 0; i < jobs; ++i) {
    HorizonJob job;
    job.id = "j" + std::to_string(i);
    job.left = state.minutes / 60 * std::exp(dice.share() * 5 - 2);
    job.n_min = dice.one_in(5) ? std::min<std::int64_t>(2, state.nodes) : 1;
    job.n_max = job.n_min * dice.upto(1, 9);
    if (has_options && dice.one_in(2)) job.now = dice.upto(0, 4);
    if (has_options && dice.one_in(3)) {
      for (const int n : legal_numbers(state, job)) job.speed.emplace_back(n, 3 * dice.share());
    }
    state.jobs.push_back(std::move(job));
  }
  return state;
}

/// The objective of one job's numbers, as §11 has it.
inline double objective_of(const HorizonState& state, const HorizonJob& job,
                           const std::vector<int>& plan) {
  double served = 0;
  double sum = 0;
  std::optional<std::int64_t> before = job.now;
  for (const int n : plan) {
    double hours = state.minutes / 60;
    if (before && *before != n) hours = std::max(0.0, hours - state.pause / 3600);
    served = std::min(job.left, served + hours * speed_of(job, n));
    sum += served / job.left;
    before = n;
  }
  return sum;
}

/// Every way to choose one of `numbers` for each step.
inline std::vector<std::vector<int>> plans_of(const std::vector<int>& numbers, int steps) {
  std::vector<std::vector<int>> plans{{}};
  for (int t = 0; t < steps; ++t) {
    std::vector<std::vector<int>> longer;
    for (const std::vector<int>& plan : plans) {
      for (const int n : numbers) {
        longer.push_back(plan);
        longer.back().push_back(n);
      }
    }
    plans.swap(longer);
  }
  return plans;
}

/// The largest objective of the first `jobs` jobs.
inline double optimum_of(const HorizonState& state, std::size_t jobs) {
  std::map<std::vector<int>, double> reached{
      {std::vector<int>(static_cast<std::size_t>(state.steps), 0), 0}};
  for (std::size_t i = 0; i < jobs; ++i) {
    const HorizonJob& job = state.jobs[i];
    std::map<std::vector<int>, double> next;
    for (const std::vector<int>& plan : plans_of(legal_numbers(state, job), state.steps)) {
      const double own = objective_of(state, job, plan);
      for (const auto& [used, value] : reached) {
        std::vector<int> sum = used;
        for (std::size_t t = 0; t < plan.size(); ++t) sum[t] += plan[t];
        if (*std::max_element(sum.begin(), sum.end()) > state.nodes) continue;
        double& best = next.try_emplace(sum, 0).first->second;
        best = std::max(best, value + own);
      }
    }
    reached.swap(next);
  }
  double most = 0;
  for (const auto& [used, value] : reached) most = std::max(most, value);
  return most;
}

}  // namespace flowcon::test
