// SPDX-License-Identifier: Apache-2.0
// How fast jobs work where they are: the law of speed-up and the network between their tasks.
#pragma once

#include <vector>

#include "sim/groups/world.h"

namespace flowcon::sim::groups {

/// The rate of a job with `workers` workers on one node.
[[nodiscard]] double speed_of(const GroupJob& job, const Law& law, std::int64_t workers);

/// A job that works, and where.
struct Active {
  const GroupJob* job = nullptr;
  const Placement* placed = nullptr;
};

/// Work per second of each, 0 without all parameter servers or without a worker.
[[nodiscard]] std::vector<double> rates_of(const std::vector<Active>& jobs, const Law& law,
                                           std::size_t nodes);

}  // namespace flowcon::sim::groups
