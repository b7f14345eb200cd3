// SPDX-License-Identifier: Apache-2.0
#include "ctrl/policy/forecaster.h"

#include <cmath>

namespace flowcon::ctrl::policy {

growth::Forecast Forecaster::forecast(const JobView& job) const {
  return growth::forecast_of(*job.track, job.goal, memory_.recall(job.training), least_,
                             &kept_[job.id]);
}

growth::Basis Forecaster::basis(const JobView& job) const {
  return growth::left_of(*job.track, memory_.recall(job.training), least_, &kept_[job.id]).basis;
}

std::optional<double> Forecaster::left(const JobView& job) const {
  const growth::WorkLeft expected =
      growth::left_of(*job.track, memory_.recall(job.training), least_, &kept_[job.id]);
  const bool is_young = expected.basis == growth::Basis::age && job.track->used() < young();
  if (is_young || !std::isfinite(expected.left)) return std::nullopt;
  return expected.left;
}

void Forecaster::end(const JobView& job, bool is_complete) {
  forget(job.id);
  if (!is_complete) return;
  if (const auto run = growth::remembered_run(*job.track, job.goal)) remember(job.training, *run);
}

}  // namespace flowcon::ctrl::policy
