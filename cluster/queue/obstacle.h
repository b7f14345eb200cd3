// SPDX-License-Identifier: Apache-2.0
// Why a job of the queue does not run yet, for people. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "cluster/queue/all_jobs.h"

namespace flowcon::cluster::queue {

/// "waits for 1.5 cores on gpu3", "no reachable host could hold it: …".
[[nodiscard]] std::string obstacle_of(const AllJobs& all, std::size_t job);

/// "40 s", "2 min", "1.5 h".
[[nodiscard]] std::string rough(double seconds);

}  // namespace flowcon::cluster::queue
