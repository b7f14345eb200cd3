// SPDX-License-Identifier: Apache-2.0
#include "sim/beginning.h"

#include <optional>

#include "base/random.h"

namespace flowcon::sim {
namespace {

// A run as the daemon's ticks would have followed it, alone on its host.
std::optional<ctrl::growth::Remembered> run_of(const JobSpec& job) {
  ctrl::growth::Track track;
  track.look({0, 0, 0, {}}, {});
  for (std::uint32_t k = 1; k <= job.lines; ++k) {
    const double at = static_cast<double>(k) / job.lines;
    const double used = job.used_at(at);
    double value = job.curve->value(at);
    if (job.noise > 0) value += job.noise * job.curve->range() * normal_of(job.noise_seed, k);
    track.look({used, used, 0, at}, {{used, value}});
  }
  return ctrl::growth::remembered_run(track, job.curve->goal());
}

}  // namespace

Beginning beginning_of(const Schedule& schedule) {
  Beginning beginning;
  beginning.hosts = schedule.hosts;
  for (const JobSpec& job : schedule.earlier) {
    if (const auto run = run_of(job)) beginning.memory.push_back({job.model, *run});
  }
  return beginning;
}

}  // namespace flowcon::sim
