// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/horizon_model.h"

#include <algorithm>
#include <cmath>

namespace flowcon::cluster::policy {

std::vector<int> legal_numbers(const HorizonState& state, const HorizonJob& job) {
  std::vector<int> numbers;
  if (state.allow_zero) numbers.push_back(0);
  const std::int64_t most = std::min(job.n_max, state.nodes);
  for (std::int64_t k = 1; k <= most; k *= 2) {
    if (k >= job.n_min) numbers.push_back(static_cast<int>(k));
  }
  return numbers;
}

double speed_of(const HorizonJob& job, int number) {
  if (number == 0) return 0;
  for (const auto& [nodes, speed] : job.speed) {
    if (nodes == number) return speed;
  }
  return number * std::pow(0.8, std::log2(number));
}

namespace horizon {
namespace {

constexpr std::size_t kMostCells = 4'000'000;

Job make_job(const HorizonState& state, const HorizonJob& from, std::vector<int> numbers) {
  const double whole = state.minutes / 60;
  const double paused = std::max(0.0, whole - pause_of(state, from) / 3600);
  Job job;
  job.numbers = std::move(numbers);
  for (const int number : job.numbers) {
    const double speed = speed_of(from, number);
    job.gain.push_back(std::min(from.left, whole * speed) / from.left);
    job.resumed.push_back(std::min(from.left, paused * speed) / from.left);
  }
  if (from.now) {
    const auto found = std::find(job.numbers.begin(), job.numbers.end(), *from.now);
    job.now =
        found == job.numbers.end() ? Job::kOther : static_cast<int>(found - job.numbers.begin());
  }
  return job;
}

int most_used(const Model& model) {
  if (model.jobs.empty() || model.nodes <= 0) return 0;
  std::int64_t all = 0;
  for (const Job& job : model.jobs) all += job.numbers.back();
  if (all <= model.nodes) return static_cast<int>(all);
  const std::size_t width = static_cast<std::size_t>(model.nodes) + 1;
  if (model.jobs.size() * width > kMostCells) return model.nodes;
  std::vector<std::uint8_t> sums(width, 0);
  sums[0] = 1;
  for (const Job& job : model.jobs) {
    std::vector<std::uint8_t> next(width, 0);
    for (const int number : job.numbers) {
      const auto more = static_cast<std::size_t>(number);
      for (std::size_t sum = more; sum < width; ++sum) {
        next[sum] = static_cast<std::uint8_t>(next[sum] | sums[sum - more]);
      }
    }
    sums.swap(next);
  }
  std::size_t most = width - 1;
  while (most > 0 && sums[most] == 0) --most;
  return static_cast<int>(most);
}

}  // namespace

Model make_model(const HorizonState& state) {
  Model model;
  model.nodes = static_cast<int>(state.nodes);
  model.steps = state.steps;
  std::int64_t least = 0;
  for (const HorizonJob& job : state.jobs) {
    std::vector<int> numbers = legal_numbers(state, job);
    if (numbers.empty()) break;
    least += numbers.front();
    if (least > state.nodes) break;
    model.has_pause = model.has_pause || pause_of(state, job) > 0;
    model.jobs.push_back(make_job(state, job, std::move(numbers)));
  }
  model.nodes = most_used(model);
  return model;
}

double value_of(const Model& model, const Job& job, const Choice* choices) {
  double value = 0;
  double served = 0;
  int before = job.now;
  for (int t = 0; t < model.steps; ++t) {
    served = std::min(1.0, served + job.gain_after(before, choices[t]));
    value += served;
    before = choices[t];
  }
  return value;
}

double value_of(const Model& model, const Plan& plan) {
  double value = 0;
  const Choice* choices = plan.choices.data();
  for (const Job& job : model.jobs) {
    value += value_of(model, job, choices);
    choices += model.steps;
  }
  return value;
}

double uncapped_share(const Model& model, const Job& job, const Choice* choices) {
  double served = 0;
  int before = job.now;
  for (int t = 0; t < model.steps; ++t) {
    served += job.gain_after(before, choices[t]);
    before = choices[t];
  }
  return served;
}

}  // namespace horizon
}  // namespace flowcon::cluster::policy
