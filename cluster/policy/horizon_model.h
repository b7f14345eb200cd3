// SPDX-License-Identifier: Apache-2.0
// The rolling horizon as its solvers see it: a job is a table of what it gains from each of its
// numbers, a plan a choice among them for each step. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/policy/horizon.h"

namespace flowcon::cluster::policy::horizon {

using Choice = std::uint8_t;  ///< index of one of a job's numbers

/// Smaller differences of two objectives are rounding: they are sums of shares from 0 to 1.
constexpr double kRounding = 1e-11;

struct Job {
  static constexpr int kUnknown = -1;
  static constexpr int kOther = 255;

  /// What a step adds to the share served, given the choices of the step before and its own.
  [[nodiscard]] double gain_after(int before, int choice) const {
    const auto at = static_cast<std::size_t>(choice);
    return before == choice || before == kUnknown ? gain[at] : resumed[at];
  }

  std::vector<int> numbers;     ///< ascending
  std::vector<double> gain;     ///< of a whole step: share of the job, at most 1
  std::vector<double> resumed;  ///< of a step that begins with a pause
  int now = kUnknown;           ///< choice before the first step; kOther: none of its numbers
};

/// The jobs that are admitted.
struct Model {
  int nodes = 0;  ///< most, up to those there are, that one number of each job can add up to
  int steps = 0;
  bool has_pause = false;
  std::vector<Job> jobs;
};

[[nodiscard]] Model make_model(const HorizonState& state);

/// A choice for each job and step, job by job.
struct Plan {
  std::vector<Choice> choices;
  double value = 0;
};

/// Sum over the steps of the share served until then.
[[nodiscard]] double value_of(const Model& model, const Job& job, const Choice* choices);
[[nodiscard]] double value_of(const Model& model, const Plan& plan);

/// The share served in all steps if the job were endless: above 1, its cap binds.
[[nodiscard]] double uncapped_share(const Model& model, const Job& job, const Choice* choices);

}  // namespace flowcon::cluster::policy::horizon
