// SPDX-License-Identifier: Apache-2.0
// How long the estimates take to learn from a history, and to answer, beside work on the same table
// that nothing can do without: reading it, and sorting each feature once.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "base/json.h"
#include "ctrl/codec/estimate_json.h"

namespace {

using namespace flowcon::ctrl::estimate;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kFeatures = 24;

EstimateState made_state(std::size_t runs, std::size_t labels) {
  std::mt19937 random(1);
  EstimateState state;
  for (std::size_t i = 0; i < runs; ++i) {
    Profile run;
    run.family = "family" + std::to_string(random() % 8);
    run.key = "key" + std::to_string(i);
    run.age = static_cast<double>(runs - i);
    double sum = 1;
    for (std::size_t k = 0; k + 1 < kFeatures; ++k) {
      const auto number = static_cast<double>(random() % 1000);
      run.features.emplace_back("arg.n" + std::to_string(k), number);
      sum += number * static_cast<double>(k % 5);
    }
    run.features.emplace_back("arg.model", "model" + std::to_string(random() % 8));
    for (std::size_t k = 0; k < labels; ++k) {
      const double noise = 1 + static_cast<double>(random() % 100) / 1000;
      run.labels.emplace_back("label" + std::to_string(k),
                              sum * noise * static_cast<double>(k + 1));
    }
    state.history.push_back(std::move(run));
  }
  return state;
}

template <class Run>
double seconds(Run run) {
  const auto from = Clock::now();
  run();
  return std::chrono::duration<double>(Clock::now() - from).count();
}

// Each numeric feature, sorted with its row for each label.
double sort_features(const EstimateState& state, std::size_t labels) {
  double sum = 0;
  for (std::size_t label = 0; label < labels; ++label) {
    for (std::size_t k = 0; k + 1 < kFeatures; ++k) {
      std::vector<std::pair<float, std::size_t>> column;
      for (std::size_t i = 0; i < state.history.size(); ++i) {
        column.emplace_back(
            static_cast<float>(std::get<double>(state.history[i].features[k].second)), i);
      }
      std::sort(column.begin(), column.end());
      sum += column.front().first;
    }
  }
  return sum;
}

int measure(std::size_t runs, std::size_t labels) {
  const EstimateState state = made_state(runs, labels);
  const std::string text = flowcon::render_json(to_json(state));
  bool is_read = false;
  const double reading =
      seconds([&] { is_read = estimate_state_from(*flowcon::parse_json(text)).has_value(); });
  double sum = 0;
  const double sorting = seconds([&] { sum = sort_features(state, labels); });
  Estimator estimator(state.history, state.quantile, state.seed);
  const std::clock_t before = std::clock();
  const double training = seconds([&] { estimator.train(); });
  const double used = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  std::vector<double> answers;
  for (std::size_t i = 0; i < 1000; ++i) {
    const Profile& run = state.history[i % runs];
    const EstimateJob job{"job", run.family, "new", run.features};
    answers.push_back(seconds([&] { sum += *estimator.estimate(job)[0].expected; }));
  }
  std::sort(answers.begin(), answers.end());
  std::printf("%zu runs, %zu features, %zu labels\n", runs, kFeatures, labels);
  std::printf("training          %9.3f s   %5.0f times sorting each feature (%.3f s)\n", training,
              training / sorting, sorting);
  std::printf("  CPU time        %9.3f s\n", used);
  std::printf("                               %5.0f times reading it (%.3f s)\n",
              training / reading, reading);
  std::printf("an answer, median %9.3f ms, greatest of %zu %.3f ms\n",
              answers[answers.size() / 2] * 1e3, answers.size(), answers.back() * 1e3);
  std::printf("aim: 2000 runs and 10 labels under 15 s, an answer under 1 ms\n");
  return is_read && sum > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const long runs = argc > 1 ? std::atol(argv[1]) : 2000;
  const long labels = argc > 2 ? std::atol(argv[2]) : 10;
  if (runs < 20 || labels < 1 || labels > 64) {
    std::fprintf(stderr, "usage: estimate_bench [RUNS, from 20] [LABELS, to 64]\n");
    return 2;
  }
  return measure(static_cast<std::size_t>(runs), static_cast<std::size_t>(labels));
}
