// SPDX-License-Identifier: Apache-2.0
// Summaries and bounds as people and programs read them. Numbers are rounded to two decimals, so
// that the same runs give the same bytes.
#pragma once

#include <string>
#include <vector>

#include "sim/bound.h"
#include "sim/job.h"
#include "sim/summary.h"
#include "sim/table.h"

namespace flowcon::sim {

/// JSON: an array with one object a policy; CSV: the same members as columns.
[[nodiscard]] std::string render(const std::vector<PolicySummary>& summaries, Format format);

/// The bounds of one or more seeds: their means.
[[nodiscard]] std::string render_bounds(const std::vector<Bounds>& bounds, Format format);

/// A table that parse_trace() reads.
[[nodiscard]] std::string render_jobs(const std::vector<JobSpec>& jobs);

/// A self-contained page without script: the table, a figure of the means with their errors, and
/// the jobs of each policy.
[[nodiscard]] std::string render_page(const std::string& title, const std::string& command,
                                      const std::vector<PolicySummary>& summaries);

}  // namespace flowcon::sim
