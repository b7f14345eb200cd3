// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/pause.h"

#include <algorithm>

#include "cluster/policy/report.h"

namespace flowcon::cluster::queue {
namespace {

bool is_on_its_way(JobState state) {
  return state == JobState::placing || state == JobState::starting;
}

bool had_room(JobState state) {
  return state == JobState::running || state == JobState::parking || state == JobState::stopping ||
         state == JobState::returning;
}

}  // namespace

void PauseMeter::add(const std::vector<JobStep>& steps) {
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const JobState before = steps[i - 1].state, after = steps[i].state;
    // The clock may have been set back.
    const double took = std::max(0.0, steps[i].time - steps[i - 1].time);
    if (after == JobState::running && is_on_its_way(before)) {
      std::size_t first = i - 1;
      while (first > 0 && is_on_its_way(steps[first - 1].state)) --first;
      starts_.push_back(std::max(0.0, steps[i].time - steps[first].time));
    }
    if (before == JobState::parking && after != JobState::running) saves_.push_back(took);
    const bool is_left = after == JobState::waiting || is_closed(after);
    if (is_left && had_room(before)) returns_.push_back(before == JobState::returning ? took : 0);
  }
}

double PauseMeter::seconds() const {
  return policy::median(saves_).value_or(kUnmeasuredSave) + policy::median(returns_).value_or(0) +
         policy::median(starts_).value_or(kUnmeasuredStart);
}

}  // namespace flowcon::cluster::queue
