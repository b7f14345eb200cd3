// SPDX-License-Identifier: Apache-2.0
// The published figures of the elastic experiment beside ours.
#pragma once

#include <vector>

#include "sim/elastic/trace.h"
#include "sim/published.h"

namespace flowcon::sim::elastic {

/// On 70, 90 ... 190 nodes, the product's own extras on 110 and 150. A row without a goal is met.
/// Where jobs.of_447 is empty, jobs.all stands for it and the rows of all jobs are left out. What
/// is drawn is the mean of eight seeds. Takes half a minute for the published traces.
[[nodiscard]] std::vector<PublishedRow> elastic_rows(const TraceJobs& jobs);

}  // namespace flowcon::sim::elastic
