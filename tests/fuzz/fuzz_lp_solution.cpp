// SPDX-License-Identifier: Apache-2.0
// What a solver says of a small program: whatever it says, the plan is one of ours or a better one
// that fits, and that plan as we write it is read as itself.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cluster/codec/lp_solution.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace flowcon::cluster::policy;

constexpr std::size_t kSteps = 2;

// Three jobs on four nodes, two steps of an hour, the first job with a pause before another number.
HorizonState small_state() {
  HorizonState state;
  state.nodes = 4;
  state.steps = kSteps;
  state.minutes = 60;
  state.pause = 600;
  state.jobs = {{"a", 4, 1, 2, 1, {}}, {"b", 2, 1, 2, {}, {}}, {"c", 0.5, 1, 1, {}, {}}};
  return state;
}

// Everybody has one node, with no objective, so that any plan is better.
HorizonDecision first_plan(const HorizonState& state) {
  HorizonDecision decision;
  for (const HorizonJob& job : state.jobs) {
    decision.plan.push_back({job.id, std::vector<int>(kSteps, 1)});
  }
  return decision;
}

void check_plan(const HorizonState& state, const HorizonDecision& decision) {
  if (decision.plan.size() != state.jobs.size()) std::abort();
  if (!std::isfinite(decision.objective) || decision.bound < decision.objective) std::abort();
  for (std::size_t t = 0; t < kSteps; ++t) {
    std::int64_t used = 0;
    for (std::size_t i = 0; i < decision.plan.size(); ++i) {
      const int nodes = decision.plan[i].nodes.at(t);
      if (nodes < state.jobs[i].n_min || nodes > state.jobs[i].n_max) std::abort();
      used += nodes;
    }
    if (used > state.nodes) std::abort();
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto solution =
      read_lp_solution(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!solution) return 0;
  if (!std::isfinite(solution->objective) || solution->objective < 0) std::abort();
  static const HorizonState kState = small_state();
  const auto better = better_plan(kState, first_plan(kState), *solution);
  if (!better) return 0;
  check_plan(kState, *better);
  std::string written = lp_start(kState, *better);
  written.replace(0, written.find(" - "), "Optimal");
  const auto again = read_lp_solution(written);
  if (!again) std::abort();
  const auto same = better_plan(kState, first_plan(kState), *again);
  if (!same || same->objective != better->objective) std::abort();
  for (std::size_t i = 0; i < same->plan.size(); ++i) {
    if (same->plan[i].nodes != better->plan[i].nodes) std::abort();
  }
  return 0;
}
