// SPDX-License-Identifier: Apache-2.0
// What the daemons know when a run begins, which is what policies are made of: their hosts and what
// they remember of runs before. Of the jobs that are to come there is nothing in it.
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

/// Of the schedule's jobs nothing but `earlier` is looked at.
[[nodiscard]] Beginning beginning_of(const Schedule& schedule);

}  // namespace flowcon::sim
