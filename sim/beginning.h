// SPDX-License-Identifier: Apache-2.0
// The daemons' knowledge when a run begins, from which policies are made: hosts and remembered
// earlier runs, nothing about future jobs.
#pragma once

#include <string>
#include <vector>

#include "ctrl/growth/forecast.h"
#include "sim/job.h"

namespace flowcon::sim {

/// A run that ended well before, as a daemon's store has it.
struct EarlierRun {
  std::string model;  ///< image and command
  ctrl::growth::Remembered run;
};

struct Beginning {
  std::vector<HostSpec> hosts;
  std::vector<EarlierRun> memory;  ///< oldest first
};

/// Reads only `earlier` of the schedule's jobs.
[[nodiscard]] Beginning beginning_of(const Schedule& schedule);

}  // namespace flowcon::sim
